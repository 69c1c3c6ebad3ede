/// Stock keeping.
module shop.stock;

import std.stdio;

enum limit = 100;
enum Colour { red, green }
alias Price = int;

/// One item.
struct Item {
    string name;
    int price;
    this(string name) { this.name = name; }
    int total() const { return price; }
}

interface Seller { bool sell(Item i); }

class Shop : Base, Seller {
    private int count;
    override bool sell(Item i) { return true; }
    static void reset() {}
    ~this() {}
}

T twice(T)(T x) { return x + x; }

template Max(T) { enum Max = T.max; }

auto add(int a, int b) pure => a + b;

unittest { assert(add(1, 2) == 3); }

void main() { writeln("x"); }
