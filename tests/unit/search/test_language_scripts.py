"""Ruby, PHP, shell scripts, Lua and Elixir: every definition of a small file, with what is known of it."""

from functools import cache

import pytest
from tests.rows import each_row
from tests.unit.search.extracted import definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.model import Chunk

RUBY = """\
# Sells things.
require "json"

LIMIT = 10

module Store
  # A shop.
  # It sells.
  class Shop < Base::Thing
    RATES = { a: 1 }
    attr_reader :name

    def initialize(name)
      @name = name
    end

    def self.open(name) = new(name)

    class << self
      def build; end
    end

    def open?; true; end
    def ==(other) other end

    private

    def hidden
      [1].each do |x| puts x end
    end
  end

  class Store::Till; end
end

def main(*args, **rest)
  yield
end
"""

PHP = r"""<html><?php
namespace App\Shop;

use Foo\Bar;

const LIMIT = 10;

/**
 * Sells items.
 */
#[Entity]
abstract class Shop extends Base implements Seller, \Countable
{
    use Loggable;
    private const RATE = 2;
    public $name = "x";

    public function __construct(private string $name) {}

    // Sells one item.
    protected static function sell(Item $item, int $n = 1): ?Receipt
    {
        return function ($x) { return $x; };
    }
    abstract function size(): int;
}

interface Seller extends Named { public function sell(); }
trait Loggable { private function log() {} }
enum Color: string { case Red = 'r'; public function label(): string { return 'x'; } }
function main(array $args) { echo "hi"; }
?>
<p>text</p>
"""

SHELL = """\
#!/bin/bash
# Builds the shop.
set -eu

LIMIT=10
export HOME_DIR=/tmp
readonly NAME="x"
declare -a LIST=(a b)

# Opens it.
open_shop() {
    local name=$1
    echo "$name"
}

function close_shop {
    inner() { :; }
}

function both() { echo; }
if true; then
    conditional() { :; }
fi
helper::run () ( echo sub )
main() {
    open_shop "$@"
}
main "$@"
"""

LUA = """\
-- Sells things.
local M = {}
LIMIT = 10
local home = "home"

--- Opens a shop.
-- By its name.
function M.open(name) return name end
function M:sell(item) end
function M.a.b.deep() end
local function hidden(x, ...)
  local function inner() end
end
function global() end
local anonymous = function(a) end
M.field = function() end
M.table = { key = function() end }
return M
"""

ELIXIR = r'''defmodule Shop.Core do
  @moduledoc """
  Sells items.
  """
  use GenServer
  @limit 10

  # A comment of two words.
  @doc """
  Opens a shop.
  """
  @spec open(String.t(), keyword) :: Shop.t()
  def open(name, opts \\ []) when is_binary(name) do
    name
  end

  @doc "Closes it now."
  def close, do: :ok

  defp hidden(x), do: x
  defmacro unless(c, do: b) do
    b
  end
  defguard is_small(x) when x < 3
  defstruct [:name]
  defdelegate size(shop), to: Other

  defmodule Till do
    def count(), do: 1
  end
end

defprotocol Seller do
  def sell(thing)
end

defimpl Seller, for: Shop do
  def sell(t), do: t
end
'''

SOURCES = {"ruby": RUBY, "php": PHP, "shell": SHELL, "lua": LUA, "elixir": ELIXIR}

# kind, name, visibility, first line, last line
DEFINITIONS = {
    "ruby": [
        ("variable", "LIMIT", "public", 4, 4),
        ("namespace", "Store", "public", 6, 34),
        ("class", "Store.Shop", "public", 9, 31),
        ("variable", "Store.Shop.RATES", "public", 10, 10),
        ("method", "Store.Shop.initialize", "public", 13, 15),
        ("method", "Store.Shop.open", "public", 17, 17),
        ("method", "Store.Shop.build", "public", 20, 20),
        ("method", "Store.Shop.open?", "public", 23, 23),
        ("method", "Store.Shop.==", "public", 24, 24),
        ("method", "Store.Shop.hidden", "private", 28, 30),
        ("class", "Store.Store.Till", "public", 33, 33),
        ("function", "main", "public", 36, 38),
    ],
    "php": [
        ("variable", "LIMIT", "public", 6, 6),
        ("class", "Shop", "public", 11, 26),
        ("variable", "Shop.RATE", "private", 15, 15),
        ("method", "Shop.__construct", "public", 18, 18),
        ("method", "Shop.sell", "protected", 21, 24),
        ("method", "Shop.size", "public", 25, 25),
        ("interface", "Seller", "public", 28, 28),
        ("method", "Seller.sell", "public", 28, 28),
        ("trait", "Loggable", "public", 29, 29),
        ("method", "Loggable.log", "private", 29, 29),
        ("enum", "Color", "public", 30, 30),
        ("method", "Color.label", "public", 30, 30),
        ("function", "main", "public", 31, 31),
    ],
    "shell": [
        ("variable", "LIMIT", "", 5, 5),
        ("variable", "HOME_DIR", "", 6, 6),
        ("variable", "NAME", "", 7, 7),
        ("variable", "LIST", "", 8, 8),
        ("function", "open_shop", "", 11, 14),
        ("function", "close_shop", "", 16, 18),
        ("function", "close_shop.inner", "", 17, 17),
        ("function", "both", "", 20, 20),
        ("function", "conditional", "", 22, 22),
        ("function", "helper::run", "", 24, 24),
        ("function", "main", "", 25, 27),
    ],
    "lua": [
        ("variable", "M", "private", 2, 2),
        ("variable", "LIMIT", "public", 3, 3),
        ("variable", "home", "private", 4, 4),
        ("function", "M.open", "public", 8, 8),
        ("method", "M.sell", "public", 9, 9),
        ("function", "M.a.b.deep", "public", 10, 10),
        ("function", "hidden", "private", 11, 13),
        ("function", "hidden.inner", "private", 12, 12),
        ("function", "global", "public", 14, 14),
        ("function", "anonymous", "private", 15, 15),
        ("function", "M.field", "public", 16, 16),
        ("variable", "M.table", "public", 17, 17),
        ("function", "M.table.key", "public", 17, 17),
    ],
    "elixir": [
        ("namespace", "Shop.Core", "public", 1, 31),
        ("function", "Shop.Core.open", "public", 12, 15),
        ("function", "Shop.Core.close", "public", 18, 18),
        ("function", "Shop.Core.hidden", "private", 20, 20),
        ("function", "Shop.Core.unless", "public", 21, 23),
        ("function", "Shop.Core.is_small", "public", 24, 24),
        ("function", "Shop.Core.size", "public", 26, 26),
        ("namespace", "Shop.Core.Till", "public", 28, 30),
        ("function", "Shop.Core.Till.count", "public", 29, 29),
        ("interface", "Seller", "public", 33, 35),
        ("method", "Seller.sell", "public", 34, 34),
        ("impl", "Seller", "public", 37, 39),
        ("method", "Seller.sell", "public", 38, 38),
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
        ("ruby", "Store.Shop", "extends", ["Base::Thing"]),
        ("ruby", "Store", "extends", []),
        ("php", "Shop", "extends", ["Base", "Seller", "Countable", "Loggable"]),
        ("php", "Shop.sell", "modifiers", ["protected", "static"]),
        ("php", "Seller", "extends", ["Named"]),
        ("lua", "hidden", "modifiers", ["local"]),
        ("lua", "M.open", "modifiers", []),
        ("elixir", "Shop.Core.hidden", "modifiers", ["defp"]),
        ("elixir", "Shop.Core.open", "modifiers", []),
    ],
)
def test_bases_and_modifiers_are_exactly_those_of_the_definition(
    language: str, name: str, fact: str, expected: list[str]
) -> None:
    assert definition(language, name).facts.get(fact, []) == expected


@pytest.mark.parametrize(
    ("language", "name", "doc"),
    [
        ("ruby", "Store.Shop", "A shop.\nIt sells."),
        ("php", "Shop.sell", "Sells one item."),
        ("shell", "open_shop", "Opens it."),
        ("lua", "M.open", "Opens a shop.\nBy its name."),
        ("elixir", "Shop.Core.close", "Closes it now."),
    ],
)
def test_the_comment_above_a_definition_documents_it(language: str, name: str, doc: str) -> None:
    prose = [item for item in extract(language, "shop", SOURCES[language].encode()).chunks if item.name == name]

    assert definition(language, name).doc == doc
    assert ("docstring", doc) in [(item.kind, item.text) for item in prose]


@pytest.mark.parametrize(
    ("language", "name", "signature"),
    [
        ("ruby", "Store.Shop", "class Shop < Base::Thing"),
        ("ruby", "Store.Shop.open", "def self.open(name)"),
        ("ruby", "main", "def main(*args, **rest)"),
        ("php", "Shop.sell", "protected static function sell(Item $item, int $n = 1): ?Receipt"),
        ("php", "Shop.size", "abstract function size(): int"),
        ("php", "Color", "enum Color: string"),
        ("shell", "open_shop", "open_shop()"),
        ("shell", "close_shop", "function close_shop"),
        ("shell", "NAME", 'readonly NAME="x"'),
        ("lua", "M.sell", "function M:sell(item)"),
        ("lua", "hidden", "local function hidden(x, ...)"),
        ("lua", "LIMIT", "LIMIT = 10"),
        ("elixir", "Shop.Core.open", "def open(name, opts \\\\ []) when is_binary(name)"),
        ("elixir", "Shop.Core.hidden", "defp hidden(x)"),
        ("elixir", "Seller", "defprotocol Seller"),
    ],
)
def test_a_signature_is_one_line_without_the_body(language: str, name: str, signature: str) -> None:
    assert definition(language, name).signature == signature


# A function that does something with names that are not ASCII; what it is called, and what it calls.
FOREIGN = {
    "ruby": ("def größe(länge)\n prüfe(länge)\nend\n", "größe", "prüfe"),
    "php": ("<?php\nfunction größe($länge) { prüfe($länge); }\n", "größe", "prüfe"),
    "shell": ("große() {\n mkdir größe\n}\n", "große", "mkdir"),
    "lua": ("function size(a)\n check(a, 'größe')\nend\n", "size", "check"),
    "elixir": ("defmodule A do\n def größe(länge), do: prüfe(länge)\nend\n", "A.größe", "prüfe"),
}


@each_row("language", SOURCES)
@each_row("before", [b"", b"\xef\xbb\xbf"])
def test_names_of_all_alphabets_are_found_with_and_without_a_byte_order_mark(language: str, before: bytes) -> None:
    source, name, callee = FOREIGN[language]
    chunks = extract(language, "a", before + source.encode()).chunks
    found = [item for item in chunks if item.mode == "code" and item.name == name]

    assert found
    assert found[0].facts["calls"] == [callee]


@each_row("language", SOURCES)
def test_line_ends_of_windows_change_no_fact(language: str) -> None:
    plain, windows = (
        [item for item in extract(language, "a", text.encode()).chunks if item.mode == "code"]
        for text in (SOURCES[language], SOURCES[language].replace("\n", "\r\n"))
    )

    assert [(item.name, item.facts, item.counts, item.signature) for item in plain] == [
        (item.name, item.facts, item.counts, item.signature) for item in windows
    ]


@each_row("language", SOURCES)
@each_row("place", range(0, 1_200, 171))
def test_half_a_file_and_a_file_with_nul_bytes_give_facts_of_the_language_only(language: str, place: int) -> None:
    source = SOURCES[language].encode()
    for broken in (source[:place], source[:place] + b"\x00\xff" + source[place:]):
        chunks = extract(language, "a", broken).chunks

        assert {fact for chunk in chunks for fact in chunk.facts} <= fields_of(language)


@each_row("language", SOURCES)
@each_row("sign", ["f(", "[", "a.b ", "x = ", "-> { "])
def test_thousands_of_levels_are_survived(language: str, sign: str) -> None:
    source = SOURCES[language] + "\n" + sign * 2_000 + "\n"
    names = {item.name for item in extract(language, "a", source.encode()).chunks}

    assert names & {expected[1] for expected in DEFINITIONS[language]}
