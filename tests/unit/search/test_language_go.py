"""Go: a file labelled by hand, and each fact with a case that fails if it is missing or wrong."""

from functools import cache

import pytest
from tests.rows import each_row
from tests.unit.search.extracted import definitions_in, definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.model import Chunk, Extraction

SOURCE = """\
// Package shop sells things.
package shop

import (
	"context"
	"fmt"
	log "example.com/logging/v2"
	. "example.com/dots"
	_ "example.com/driver"
	"gopkg.in/yaml.v3"
)

import "net/http"

// Limit is how many.
const Limit = 10

const (
	// Red is a colour.
	Red Color = iota
	green
	Blue // as the sky
)

var (
	ErrClosed = errors.New("closed")
	table     = map[string]int{"a": 1}
)

var first, second = 1, "x"
var hidden *Shop

// Color names a colour.
type Color int

type Handler func(w http.ResponseWriter, r *http.Request) error
type ID = string

// Shop sells items.
// It is open by day.
type Shop struct {
	sync.Mutex
	*Base
	Name  string `json:"name"`
	items []Item
}

type (
	// Seller sells.
	Seller interface {
		io.Reader
		Sell(item Item) (*Receipt, error)
		~int | string
	}
	pair[K comparable, V any] struct {
		key K
		val V
	}
	Empty struct{}
	Any   interface{}
)

// NewShop opens a shop.
func NewShop(ctx context.Context, name string, size, depth int, opts ...Option) (*Shop, error) {
	shop := &Shop{Name: name}
	if size > Limit && depth > 0 || name == "" {
		return nil, fmt.Errorf("bad %s", name)
	}
	for _, opt := range opts {
		opt(shop)
	}
	return shop, nil
}

// Sell sells an item.
func (s *Shop) Sell(item Item) (receipt *Receipt, err error) {
	s.Lock()
	defer s.Unlock()
	s.count++
	s.total += item.Price
	s.last, err = item, nil
	s.byName[item.Name] = item
	alias := s.items
	reply, err := http.Get("https://example.com")
	if err != nil {
		panic(err)
	} else if reply == nil {
		log.Warn("nothing")
	}
	_ = alias
	return
}

func (p pair[K, V]) Key() K { return p.key }

func (Empty) Nothing() {}

func (l *list[T]) push(value T) {
	go func(extra int) {
		l.ch <- extra
	}(1)
}

func Map[T, U any](values []T, change func(T) U) []U {
	var out []U
	var total float64 = 1.5
	const small = 'x'
outer:
	for i := 0; i < len(values); i++ {
		switch v := any(values[i]).(type) {
		case int:
			continue outer
		case string:
			break outer
		default:
		}
		out = append(out, change(values[i]))
	}
	for {
		select {
		case msg := <-inbox:
			use(msg)
		case done <- true:
			goto end
		}
	}
end:
	return out
}

func types(a int, b string) {
	x := 1
	y := "s"
	z := `raw`
	f := 2.5
	t := true
	c := http.Client{Timeout: x}
	p := &http.Client{}
	m := make(map[string]int)
	n := new(Shop)
	s := []string{"a"}
	q := x
	w := compute(x)
}

func unnamed(int, error) {}

func main() {
	switch {
	case a:
	case b && c:
	}
}

func init() { register("x", NewShop) }
func über(größe int) int { return größe }
func external(a int) int

type Node struct {
	Left, Right *Node
	value       struct{ inner int }
}

type Walker interface{ Walk() }
"""

# kind, name, first line, last line
DEFINITIONS = [
    ("variable", "Limit", 16, 16),
    ("variable", "Red", 18, 20),
    ("variable", "green", 21, 21),
    ("variable", "Blue", 22, 23),
    ("variable", "ErrClosed", 25, 26),
    ("variable", "table", 27, 28),
    ("variable", "first, second", 30, 30),
    ("variable", "hidden", 31, 31),
    ("type", "Color", 34, 34),
    ("type", "Handler", 36, 36),
    ("type", "ID", 37, 37),
    ("struct", "Shop", 41, 46),
    ("interface", "Seller", 48, 54),
    ("struct", "pair", 55, 58),
    ("struct", "Empty", 59, 59),
    ("interface", "Any", 60, 61),
    ("function", "NewShop", 64, 73),
    ("method", "Shop.Sell", 76, 92),
    ("method", "pair.Key", 94, 94),
    ("method", "Empty.Nothing", 96, 96),
    ("method", "list.push", 98, 102),
    ("function", "Map", 104, 129),
    ("function", "types", 131, 144),
    ("function", "unnamed", 146, 146),
    ("function", "main", 148, 153),
    ("function", "init", 155, 155),
    ("function", "über", 156, 156),
    ("function", "external", 157, 157),
    ("struct", "Node", 159, 162),
    ("interface", "Walker", 164, 164),
]


@cache
def extraction() -> Extraction:
    return extract("go", "shop.go", SOURCE.encode())


def chunk(name: str) -> Chunk:
    return next(found for found in extraction().chunks if found.mode == "code" and found.name == name)


def snippet(body: str) -> Chunk:
    """The first definition of a small file."""
    return definitions_of("go", f"package a\n{body}", "a.go")[0]


def test_every_definition_is_found_with_its_kind_qualified_name_and_lines() -> None:
    found = [(item.kind, item.name, item.start_line, item.end_line) for item in definitions_in(extraction())]

    assert found == DEFINITIONS


def test_the_code_between_definitions_is_module_code_without_the_comments_of_definitions() -> None:
    between = [(item.start_line, item.end_line) for item in extraction().chunks if item.kind == "module"]

    assert between == [(2, 13)]


def test_the_comment_right_above_a_definition_documents_it() -> None:
    assert chunk("Shop").doc == "Shop sells items.\nIt is open by day."
    assert chunk("Shop.Sell").doc == "Sell sells an item."
    assert chunk("Red").doc == "Red is a colour."
    assert chunk("Handler").doc == ""


def test_a_comment_with_a_blank_line_below_documents_nothing() -> None:
    assert snippet("// Far away from it.\n\nfunc f() {}\n").doc == ""


def test_comments_are_prose_and_those_of_definitions_carry_their_name() -> None:
    prose = [(item.kind, item.name, item.text) for item in extraction().chunks if item.mode == "extracted-prose"]

    assert prose[:4] == [
        ("comment", "", "Package shop sells things."),
        ("docstring", "Limit", "Limit is how many."),
        ("docstring", "Red", "Red is a colour."),
        ("comment", "Blue", "as the sky"),
    ]
    assert ("docstring", "Shop.Sell", "Sell sells an item.") in prose


def test_a_block_comment_loses_its_stars() -> None:
    found = snippet("/*\n * One line.\n * Two lines.\n */\nfunc f() {}\n")

    assert found.doc == "One line.\nTwo lines."


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("Shop", "type Shop struct"),
        ("pair", "pair[K comparable, V any] struct"),
        ("Shop.Sell", "func (s *Shop) Sell(item Item) (receipt *Receipt, err error)"),
        ("Limit", "const Limit = 10"),
        ("Blue", "Blue"),
        ("Handler", "type Handler func(w http.ResponseWriter, r *http.Request) error"),
        ("Map", "func Map[T, U any](values []T, change func(T) U) []U"),
        ("external", "func external(a int) int"),
    ],
)
def test_a_signature_is_one_line(name: str, signature: str) -> None:
    assert chunk(name).signature == signature


@pytest.mark.parametrize(
    ("name", "visibility"),
    [
        ("Shop", "public"),
        ("Shop.Sell", "public"),
        ("list.push", "private"),
        ("green", "private"),
        ("über", "private"),
    ],
)
def test_capital_letters_make_names_public(name: str, visibility: str) -> None:
    assert chunk(name).visibility == visibility


@each_row(
    ("name", "fact", "expected"),
    [
        ("NewShop", "params", ["ctx", "name", "size", "depth", "opts"]),
        ("NewShop", "param_types", [
            "ctx: context.Context", "name: string", "size: int", "depth: int", "opts: ...Option",
        ]),
        ("unnamed", "params", []),
        ("Map", "param_types", ["values: []T", "change: func(T) U"]),
        ("NewShop", "return_types", ["(*Shop, error)"]),
        ("Map", "return_types", ["[]U"]),
        ("Shop", "extends", ["sync.Mutex", "Base"]),
        ("Seller", "extends", ["io.Reader"]),
        ("Shop.Sell", "throws", ["panic"]),
        ("Shop.Sell", "calls", [
            "s.Lock", "s.Unlock", "http.Get", "net/http.Get", "panic", "log.Warn", "example.com/logging/v2.Warn",
        ]),
        ("Map", "calls", ["len", "any", "append", "change", "use"]),
        ("Shop.Sell", "writes", ["s.last", "err", "alias", "reply", "s.count", "s.total"]),
        ("Map", "writes", ["total", "small", "i", "out", "v", "msg"]),
        ("Shop.Sell", "mutations", ["s.last", "s.byName[]", "s.count", "s.total"]),
        ("Shop.Sell", "aliases", ["alias=s.items"]),
        ("pair.Key", "reads", ["p.key"]),
        ("NewShop", "reads", ["name", "size", "Limit", "depth", "opts", "shop"]),
        ("init", "uses", ["NewShop", "register"]),
        ("Seller", "uses", ["io.Reader", "io", "Item", "Receipt", "error", "int", "string"]),
        ("Shop", "exports", ["Shop"]),
        ("green", "exports", []),
        ("types", "inferred_types", [
            "x: int", "y: string", "z: string", "f: float64", "t: bool", "c: http.Client", "p: *http.Client",
            "m: map[string]int", "n: *Shop", "s: []string",
        ]),
        ("Shop", "inferred_types", ["Name: string", "items: []Item"]),
        ("hidden", "inferred_types", ["hidden: *Shop"]),
    ],
)  # fmt: skip
def test_a_fact_is_exactly_what_the_source_says(name: str, fact: str, expected: list[str]) -> None:
    assert chunk(name).facts.get(fact, []) == expected


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("NewShop", {"branches": 1, "loops": 1, "breaks": 0, "continues": 0, "returns": 2, "complexity": 5}),
        ("Map", {"branches": 4, "loops": 2, "breaks": 1, "continues": 1, "returns": 1, "complexity": 7}),
        ("main", {"branches": 2, "loops": 0, "breaks": 0, "continues": 0, "returns": 0, "complexity": 4}),
        ("Shop", {}),
    ],
)
def test_control_flow_is_counted(name: str, counts: dict[str, int]) -> None:
    assert chunk(name).counts == counts


def test_a_return_without_a_value_is_no_returned_value() -> None:
    assert chunk("NewShop").flags == {"returns"}
    assert snippet("func f() { return }").flags == set()
    assert snippet("func f() { return /* nothing */ }").flags == set()


@pytest.mark.parametrize(
    "source",
    [
        "func f() (n int, err error) { n = 1; return }",
        "func f() (_ int, err error) { return }",
        "func (s *S) f() (err error) { if a { return }; panic(1) }",
    ],
)
def test_a_return_without_a_value_returns_the_named_results(source: str) -> None:
    assert snippet(source).flags == {"returns"}


@pytest.mark.parametrize(
    "source",
    [
        "func f() { g(func() (err error) { return }) }",
        "func f() (err error) { g(func() { return }); panic(1) }",
        "func f() (err error) { panic(1) }",
    ],
)
def test_named_results_are_returned_by_the_function_that_has_them(source: str) -> None:
    assert snippet(source).flags == set()


def test_a_panic_in_a_function_literal_is_its_own() -> None:
    assert "throws" not in snippet("func f() { g(func() { panic(1) }) }").facts
    assert snippet("func f() { g(func() { }); panic(1) }").facts["throws"] == ["panic"]


def test_the_file_knows_its_imports_and_exports_its_capital_names() -> None:
    found = extraction()

    assert found.imports[:3] == ["context", "fmt", "example.com/logging/v2"]
    assert {"Limit", "Red", "Shop", "NewShop", "Map"} <= set(found.exports)
    assert not {"green", "pair", "init", "Sell", "Shop.Sell"} & set(found.exports)


@pytest.mark.parametrize(
    ("imported", "call", "resolved"),
    [
        ('"net/http"', "http.Get", "net/http.Get"),
        ('"example.com/a/v3"', "a.Do", "example.com/a/v3.Do"),
        ('"gopkg.in/yaml.v3"', "yaml.Marshal", "gopkg.in/yaml.v3.Marshal"),
        ('x "example.com/y"', "x.Do", "example.com/y.Do"),
    ],
)
def test_calls_are_resolved_by_the_package_that_is_imported(imported: str, call: str, resolved: str) -> None:
    found = snippet(f"import {imported}\nfunc f() {{ {call}() }}\n")

    assert found.facts["calls"] == [call, resolved]


def test_go_has_no_exceptions_to_await_and_no_decorators() -> None:
    fields = fields_of("go")

    assert {"calls", "throws", "extends", "complexity", "returns"} <= fields
    assert not {"async", "generator", "awaits", "decorators", "param_defaults", "modifiers"} & fields


def test_every_name_of_a_declaration_is_written() -> None:
    source = b"package a\nfunc f() { var a, b = g(), 2\n var c, d int\n e := 3\n}"
    found = next(item for item in extract("go", "a.go", source).chunks if item.name == "f")

    written = {(write.target, source[write.start : write.end]) for write in found.written}
    assert written == {("a", b"g(), 2"), ("b", b"g(), 2"), ("e", b"3")}


def test_what_a_function_literal_returns_is_its_own() -> None:
    source = b"package a\nfunc f() { g(func() int { return 1 }) }"
    found = next(item for item in extract("go", "a.go", source).chunks if item.name == "f")

    assert "returns" not in found.flags
    assert found.counts["returns"] == 0


def test_type_arguments_do_not_hide_the_arguments_of_a_call() -> None:
    source = b"package a\nfunc f() { g[[]int, string](x, y) }"
    found = next(item for item in extract("go", "a.go", source).chunks if item.name == "f")

    assert [(site.callee, source[site.start : site.end]) for site in found.call_sites] == [("g", b"(x, y)")]
