val limit : int
type t
exception E
module M : sig val x : int end
external f : int -> int = "f"
class type c = object method m : int end
