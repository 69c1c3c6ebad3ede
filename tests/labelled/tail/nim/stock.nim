## Stock keeping.
import std/tables

const
  Limit* = 100
let cache = initTable[string, int]()

type
  Price = int
  Colour = enum
    red, green
  Item* = object
    name*: string
    price: int
  Shop = ref object of RootObj

proc withTax*(price: float, rate = 0.2): float =
  ## Price with tax.
  price * (1 + rate)

func twice(x: int): int = x * 2
iterator items(s: Shop): int =
  yield 1
template debug(msg: string) = echo msg
macro build(body: untyped): untyped = body
method sell(s: Shop): bool {.base.} = true
converter toInt(x: float): int = 1
