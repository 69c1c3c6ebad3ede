(** Stock keeping. *)
open Printf

exception Out_of_stock of string * int

type price = int

(** One item. *)
type item = {
  name : string;
  price : price;
}
and colour = Red | Green of int

module type STORE = sig
  type t
  val find : t -> string -> item option
end

module Stock : STORE = struct
  type t = (string, item) Hashtbl.t
  let find t name = Hashtbl.find_opt t name
end

module Make (S : STORE) = struct
  let count _ = 0
end

let limit = 100

(* Price with tax. *)
let with_tax ?(rate = 0.2) price =
  let add x = x in
  add price

let rec even n = n = 0 || odd (n - 1)
and odd n = n <> 0 && even (n - 1)

let ( +% ) a b = a + b
let square = fun x -> x * x
let () = printf "hi"

class virtual shop name = object (self)
  inherit thing
  val mutable open_ = false
  method private close = open_ <- false
  method virtual name : string
end

external sin : float -> float = "c_sin"
