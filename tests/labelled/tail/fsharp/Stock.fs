/// Stock keeping.
module Shop.Stock

open System

[<Literal>]
let Limit = 100

type Price = int

/// One item.
type Item =
    { Name: string
      Price: Price }
    member this.Total = this.Price
    static member Zero = 0

type Colour =
    | Red
    | Green of int

type Seller =
    abstract member Sell: Item -> bool

type Shop(name: string) =
    inherit Base(name)
    let mutable count = 0
    member _.Name = name
    member this.Sell(item: Item) = true
    interface Seller with
        member _.Sell item = true

/// Price with tax.
let withTax (rate: float) price =
    let inner x = x
    inner price

let rec even n = n = 0 || even (n - 2)

let inline private square x = x * x

module Inner =
    let helper () = 1

exception OutOfStock of string
