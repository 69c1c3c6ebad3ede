"""Rust, C#, Kotlin, Swift and Scala: every definition of a small file, with what is known of it."""

from functools import cache

import pytest
from tests.unit.search.extracted import definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.model import Chunk

RUST = """\
//! Sells things.
use std::fmt;

/// How many.
pub const LIMIT: usize = 10;
static HOME: &str = "home";

/// A shop.
#[derive(Debug)]
#[serde(rename = "x")]
pub struct Shop<T> {
    pub name: String,
    items: Vec<T>,
}

struct Pair(i32, i32);

enum Color { Red, Green }
union Bits { a: u32, b: f32 }
type Id = u64;

pub trait Seller: Named + Send {
    const FEE: u32 = 3;
    fn sell(&self, item: Item) -> Result<(), Error>;
    fn close(&self) {}
}

impl<T> Shop<T> {
    /// Opens a shop.
    pub fn new(name: &str) -> Self { todo!() }
    pub(crate) async fn sell(&mut self) {
        fn inner() {}
    }
}

impl<T: Clone> fmt::Display for Shop<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { Ok(()) }
}

macro_rules! square { ($x:expr) => { $x * $x }; }

mod tests {
    #[test]
    fn works() { assert!(true); }
}

extern "C" { fn outside(x: i32) -> i32; }
/* One more
 * function. */
unsafe fn last() {}
"""

CSHARP = """\
using System;
namespace Shop.Core
{
    /// <summary>Sells items.</summary>
    [Serializable]
    public abstract class Shop<T> : Base<T>, ISeller where T : Item
    {
        private const int Limit = 10;
        public event EventHandler Sold;
        public string Name { get; set; }
        public Shop(string name) : base(name) { }
        ~Shop() { }
        protected internal override int Sell(Item item) { int Inner() => 1; return 0; }
        internal void Close() => Stop();
        void Hidden() { }
        public static Shop operator +(Shop a, Shop b) => a;
        public int this[int i] => i;
    }
    public interface ISeller : INamed { int Sell(Item item); }
    enum Color { Red, Green }
    public struct Point { public int X; }
    public record Person(string Name) : Base;
    public record struct Small(int A);
    public delegate void Handler(object sender);
}
"""

KOTLIN = """\
package shop
import java.util.*

const val LIMIT = 10
private val home = "home"

/** Sells items. */
@Serializable
abstract class Shop<T>(val name: String) : Base<T>(name), Seller {
    companion object {
        fun create(): Shop = TODO()
    }
    constructor(a: Int) : this("x")
    protected open fun sell(item: Item): Receipt? { fun inner() {}; return null }
    private fun hidden() = 1
    val size: Int get() = 3
    inner class Till
}

interface Seller : Named {
    fun sell()
}
enum class Color { RED, GREEN; fun shade() {} }
data class Point(val x: Int, val y: Int)
object Registry { fun all() = listOf<Int>() }
typealias Id = Long
internal fun String.twice(): String = this + this
fun main() {}
"""

SWIFT = """\
import Foundation

let limit = 10

/// Sells items.
@objc public class Shop<T>: Base, Seller {
    private let name: String
    init(name: String) { self.name = name }
    deinit {}
    public func sell(_ item: Item) throws -> Receipt? { func inner() {}; return nil }
    fileprivate static func hidden() {}
    var size: Int { return 3 }
    subscript(i: Int) -> Int { return i }
    class Till {}
}
struct Point { var x: Int }
enum Color: String { case red, green; func shade() {} }
protocol Seller: Named {
    func sell()
}
extension Shop: Comparable { func more() {} }
actor Bank { func pay() async {} }
typealias Id = Int
func + (a: Point, b: Point) -> Point { a }
internal func main() {}
"""

SCALA = """\
package shop
import scala.collection._

/** Sells items. */
@deprecated("x", "1")
abstract class Shop[T](val name: String) extends Base[T](name) with Seller {
  val limit = 10
  def sell(item: Item): Receipt = { def inner = 1; ??? }
  private def hidden(): Unit = ()
  protected var count: Int = 0
  type Id = Long
  def abstractOne(x: Int): Int
}
object Shop { def apply() = new Shop }
trait Seller extends Named { def sell(): Unit }
case class Point(x: Int, y: Int)
case object Origin
enum Color { case Red, Green }
package object util { val home = "x" }
given ordering: Ordering[Int] = ???
def main(args: Array[String]): Unit = ()
"""

SOURCES = {"rust": RUST, "csharp": CSHARP, "kotlin": KOTLIN, "swift": SWIFT, "scala": SCALA}

# kind, name, visibility, first line, last line
DEFINITIONS = {
    "rust": [
        ("variable", "LIMIT", "public", 5, 5),
        ("variable", "HOME", "private", 6, 6),
        ("struct", "Shop", "public", 9, 14),
        ("struct", "Pair", "private", 16, 16),
        ("enum", "Color", "private", 18, 18),
        ("struct", "Bits", "private", 19, 19),
        ("type", "Id", "private", 20, 20),
        ("trait", "Seller", "public", 22, 26),
        ("variable", "Seller.FEE", "", 23, 23),
        ("method", "Seller.sell", "", 24, 24),
        ("method", "Seller.close", "", 25, 25),
        ("impl", "Shop", "", 28, 34),
        ("method", "Shop.new", "public", 30, 30),
        ("method", "Shop.sell", "internal", 31, 33),
        ("function", "Shop.sell.inner", "private", 32, 32),
        ("impl", "Shop", "", 36, 38),
        ("method", "Shop.fmt", "", 37, 37),
        ("function", "square", "", 40, 40),
        ("function", "works", "private", 43, 45),
        ("function", "outside", "private", 47, 47),
        ("function", "last", "private", 50, 50),
    ],
    "csharp": [
        ("class", "Shop", "public", 5, 18),
        ("variable", "Shop.Limit", "private", 8, 8),
        ("variable", "Shop.Sold", "public", 9, 9),
        ("variable", "Shop.Name", "public", 10, 10),
        ("method", "Shop.Shop", "public", 11, 11),
        ("method", "Shop.Shop", "", 12, 12),
        ("method", "Shop.Sell", "protected", 13, 13),
        ("function", "Shop.Sell.Inner", "", 13, 13),
        ("method", "Shop.Close", "internal", 14, 14),
        ("method", "Shop.Hidden", "private", 15, 15),
        ("method", "Shop.+", "public", 16, 16),
        ("method", "Shop.this", "public", 17, 17),
        ("interface", "ISeller", "public", 19, 19),
        ("method", "ISeller.Sell", "public", 19, 19),
        ("enum", "Color", "internal", 20, 20),
        ("struct", "Point", "public", 21, 21),
        ("class", "Person", "public", 22, 22),
        ("class", "Small", "public", 23, 23),
        ("type", "Handler", "public", 24, 25),
    ],
    "kotlin": [
        ("variable", "LIMIT", "public", 4, 4),
        ("variable", "home", "private", 5, 5),
        ("class", "Shop", "public", 8, 18),
        ("method", "Shop.create", "public", 11, 11),
        ("method", "Shop.constructor", "public", 13, 13),
        ("method", "Shop.sell", "protected", 14, 14),
        ("function", "Shop.sell.inner", "public", 14, 14),
        ("method", "Shop.hidden", "private", 15, 15),
        ("class", "Shop.Till", "public", 17, 17),
        ("interface", "Seller", "public", 20, 22),
        ("method", "Seller.sell", "public", 21, 21),
        ("enum", "Color", "public", 23, 23),
        ("method", "Color.shade", "public", 23, 23),
        ("class", "Point", "public", 24, 24),
        ("object", "Registry", "public", 25, 25),
        ("method", "Registry.all", "public", 25, 25),
        ("type", "Id", "public", 26, 26),
        ("function", "String.twice", "internal", 27, 27),
        ("function", "main", "public", 28, 28),
    ],
    "swift": [
        ("variable", "limit", "internal", 3, 3),
        ("class", "Shop", "public", 6, 15),
        ("method", "Shop.init", "internal", 8, 8),
        ("method", "Shop.deinit", "internal", 9, 9),
        ("method", "Shop.sell", "public", 10, 10),
        ("function", "Shop.sell.inner", "internal", 10, 10),
        ("method", "Shop.hidden", "private", 11, 11),
        ("method", "Shop.subscript", "internal", 13, 13),
        ("class", "Shop.Till", "internal", 14, 14),
        ("struct", "Point", "internal", 16, 16),
        ("enum", "Color", "internal", 17, 17),
        ("method", "Color.shade", "internal", 17, 17),
        ("interface", "Seller", "internal", 18, 20),
        ("method", "Seller.sell", "internal", 19, 19),
        ("impl", "Shop", "internal", 21, 21),
        ("method", "Shop.more", "internal", 21, 21),
        ("class", "Bank", "internal", 22, 22),
        ("method", "Bank.pay", "internal", 22, 22),
        ("type", "Id", "internal", 23, 23),
        ("function", "+", "internal", 24, 24),
        ("function", "main", "internal", 25, 25),
    ],
    "scala": [
        ("class", "Shop", "public", 5, 13),
        ("variable", "Shop.limit", "public", 7, 7),
        ("method", "Shop.sell", "public", 8, 8),
        ("function", "Shop.sell.inner", "public", 8, 8),
        ("method", "Shop.hidden", "private", 9, 9),
        ("variable", "Shop.count", "protected", 10, 10),
        ("type", "Shop.Id", "public", 11, 11),
        ("method", "Shop.abstractOne", "public", 12, 12),
        ("object", "Shop", "public", 14, 14),
        ("method", "Shop.apply", "public", 14, 14),
        ("trait", "Seller", "public", 15, 15),
        ("method", "Seller.sell", "public", 15, 15),
        ("class", "Point", "public", 16, 16),
        ("object", "Origin", "public", 17, 17),
        ("enum", "Color", "public", 18, 18),
        ("object", "util", "public", 19, 19),
        ("variable", "util.home", "public", 19, 19),
        ("variable", "ordering", "public", 20, 20),
        ("function", "main", "public", 21, 21),
    ],
}


@cache
def definitions(language: str) -> list[Chunk]:
    return definitions_of(language, SOURCES[language])


def definition(language: str, name: str) -> Chunk:
    return next(found for found in definitions(language) if found.name == name)


@pytest.mark.parametrize("language", SOURCES)
def test_every_definition_is_found_with_its_kind_name_visibility_and_lines(language: str) -> None:
    found = [
        (item.kind, item.name, item.visibility, item.start_line, item.end_line) for item in definitions(language)
    ]

    assert found == DEFINITIONS[language]


@pytest.mark.parametrize(
    ("language", "name", "fact", "expected"),
    [
        ("rust", "Seller", "extends", ["Named", "Send"]),
        ("rust", "LIMIT", "modifiers", ["pub"]),
        ("rust", "Shop.sell", "modifiers", ["pub(crate)", "async"]),
        ("csharp", "Shop", "extends", ["Base<T>", "ISeller"]),
        ("csharp", "Shop.Sell", "modifiers", ["protected", "internal", "override"]),
        ("csharp", "Person", "extends", ["Base"]),
        ("csharp", "Shop.Limit", "modifiers", ["private", "const"]),
        ("kotlin", "Shop", "extends", ["Base<T>", "Seller"]),
        ("kotlin", "Shop.sell", "modifiers", ["protected", "open"]),
        ("kotlin", "Seller", "extends", ["Named"]),
        ("swift", "Shop", "extends", ["Base", "Seller"]),
        ("swift", "Shop.hidden", "modifiers", ["fileprivate", "static"]),
        ("swift", "Color", "extends", ["String"]),
        ("scala", "Shop", "extends", ["Base[T]", "Seller"]),
        ("scala", "Shop.hidden", "modifiers", ["private"]),
        ("scala", "Seller", "extends", ["Named"]),
    ],
)
def test_bases_and_modifiers_are_exactly_those_of_the_definition(
    language: str, name: str, fact: str, expected: list[str]
) -> None:
    assert definition(language, name).facts.get(fact, []) == expected


@pytest.mark.parametrize(
    ("language", "name", "doc"),
    [
        ("rust", "Shop", "A shop."),
        ("csharp", "Shop", "<summary>Sells items.</summary>"),
        ("kotlin", "Shop", "Sells items."),
        ("swift", "Shop", "Sells items."),
        ("scala", "Shop", "Sells items."),
    ],
)
def test_the_comment_above_a_definition_documents_it(language: str, name: str, doc: str) -> None:
    prose = [item for item in extract(language, "shop", SOURCES[language].encode()).chunks if item.name == name]

    assert definition(language, name).doc == doc
    assert ("docstring", doc) in [(item.kind, item.text) for item in prose]


@pytest.mark.parametrize(
    ("language", "name", "signature"),
    [
        ("rust", "Shop.new", "pub fn new(name: &str) -> Self"),
        ("rust", "Shop", "pub struct Shop<T>"),
        ("rust", "Seller.sell", "fn sell(&self, item: Item) -> Result<(), Error>"),
        ("rust", "square", "macro_rules! square"),
        ("csharp", "Shop", "[Serializable] public abstract class Shop<T> : Base<T>, ISeller where T : Item"),
        ("csharp", "Shop.Close", "internal void Close()"),
        ("csharp", "Shop.Limit", "private const int Limit = 10;"),
        ("kotlin", "Shop.sell", "protected open fun sell(item: Item): Receipt?"),
        ("kotlin", "Point", "data class Point(val x: Int, val y: Int)"),
        ("kotlin", "String.twice", "internal fun String.twice(): String"),
        ("swift", "Shop.sell", "public func sell(_ item: Item) throws -> Receipt?"),
        ("swift", "Seller.sell", "func sell()"),
        ("swift", "Bank", "actor Bank"),
        (
            "scala",
            "Shop",
            '@deprecated("x", "1") abstract class Shop[T](val name: String) extends Base[T](name) with Seller',
        ),
        ("scala", "Shop.sell", "def sell(item: Item): Receipt"),
        ("scala", "Seller", "trait Seller extends Named"),
    ],
)
def test_a_signature_is_one_line_without_the_body(language: str, name: str, signature: str) -> None:
    assert definition(language, name).signature == signature
