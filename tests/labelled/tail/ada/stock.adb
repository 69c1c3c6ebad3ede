--  Stock keeping.
with Ada.Text_IO;

package body Stock is

   Limit : constant Integer := 100;

   type Item is record
      Name  : String (1 .. 20);
      Price : Integer;
   end record;

   type Colour is (Red, Green);

   --  Price with tax.
   function With_Tax (Price : Float; Rate : Float := 0.2) return Float is
   begin
      return Price * (1.0 + Rate);
   end With_Tax;

   procedure Reset is
   begin
      null;
   end Reset;

   function Twice (X : Integer) return Integer is (X * 2);

   task body Worker is
   begin
      null;
   end Worker;

end Stock;
