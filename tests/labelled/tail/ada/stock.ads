package Stock is
   type Thing is tagged private;
   subtype Small is Integer range 1 .. 10;
   function With_Tax (Price : Float) return Float;
   procedure Reset;
   Out_Of_Stock : exception;
   generic
      type T is private;
   package Lists is
   end Lists;
private
   type Thing is tagged null record;
end Stock;
