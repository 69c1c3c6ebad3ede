namespace py shop
include "base.thrift"

const i32 LIMIT = 100
typedef i64 Price

enum Colour { RED = 1, GREEN }

// One item.
struct Item {
  1: required string name,
  2: optional Price price = 0
}
union Thing { 1: Item item }
exception OutOfStock { 1: i32 left }

service Seller extends base.Service {
  // Sells.
  bool sell(1: Item item) throws (1: OutOfStock gone),
  oneway void ping()
}
