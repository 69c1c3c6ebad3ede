// A counter.
`define LIMIT 100

package shop_pkg;
  typedef enum logic [1:0] {RED, GREEN} colour_t;
  typedef struct packed { logic a; } item_t;
  function automatic int twice(int x);
    return x * 2;
  endfunction
endpackage

interface bus_if(input logic clk);
  logic valid;
endinterface

module counter #(parameter WIDTH = 8) (input wire clk, output reg [WIDTH-1:0] q);
  localparam MAX = 10;
  always @(posedge clk) q <= q + 1;
  task reset;
    q = 0;
  endtask
endmodule

class Shop extends Base;
  int count;
  function new(); count = 0; endfunction
  virtual task sell(int id); endtask
endclass
