-- A counter.
library ieee;
use ieee.std_logic_1164.all;

package shop_pkg is
  constant LIMIT : integer := 100;
  type colour is (red, green);
  function twice(x : integer) return integer;
end package;

package body shop_pkg is
  function twice(x : integer) return integer is
  begin
    return x * 2;
  end function;
end package body;

entity counter is
  port (clk : in std_logic);
end entity counter;

architecture rtl of counter is
  signal q : integer;
  component sub is
  end component;
  procedure reset is
  begin
  end procedure;
begin
  tick : process(clk)
  begin
    q <= q + 1;
  end process;
end architecture;
