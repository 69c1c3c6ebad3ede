library shop;

import 'dart:async';

const int limit = 100;
final Map<String, int> prices = {};

typedef Handler = void Function(String);

enum Colour { red, green }

/// Sells things.
abstract class Shop<T> extends Base with Loud implements Seller, Named {
  static const int rate = 2;
  final String name;
  Shop(this.name);
  Shop.named(this.name) : super();
  factory Shop.of(String n) => Small(n);

  /// Sells.
  @override
  Future<int> sell(Item item, {int n = 1}) async {
    return n;
  }
  int get size => 1;
  set size(int v) { }
  static void reset() {}
  void _hidden();
  bool operator ==(Object o) => true;
}

mixin Loud on Base { void shout() {} }
extension Nice on String { String nice() => this; }
int twice(int x) => x * 2;
void main() { int inner() => 1; inner(); }
int get now => 3;
