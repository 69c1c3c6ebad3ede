"""Java: every definition of one file, and each fact with a case that fails if it is missing or wrong."""

from functools import cache

import pytest
from tests.rows import each_row
from tests.unit.search.extracted import definitions_in, definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.model import Chunk, Extraction

SOURCE = '''\
/* A shop that sells things. */
package com.example.shop;

import java.util.*;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import static java.util.Objects.requireNonNull;
import static org.junit.Assert.*;

/**
 * Sells items.
 * It is open by day.
 */
@Component("shop")
@Deprecated
public abstract class Shop<T extends Item> extends Base<T> implements Seller, java.io.Closeable {
    /** How many. */
    public static final int LIMIT = 10;
    private static final Map<String, Integer> RATES = new HashMap<>(), OTHER = null;
    @Inject final static String HOME = "home";
    private final AtomicInteger count = new AtomicInteger();
    protected List<T> items;

    static {
        register("shop");
    }

    /** Opens a shop. */
    public Shop(final String name, int... sizes) throws IOException {
        super(name);
        this.name = requireNonNull(name);
        items = new ArrayList<>();
    }

    private Shop() {
        this("none");
    }

    @Override
    @SuppressWarnings({"unchecked", "raw"})
    protected synchronized <R extends Receipt> Map<String, List<R>> sell(
            @NotNull(message = "a, b") Map<String, T> basket, // what is sold
            T[] extra, String[]... rest) throws SaleException, java.io.IOException {
        if (basket == null && extra.length > LIMIT || rest == null) {
            throw new IllegalArgumentException("bad " + name);
        }
        for (Map.Entry<String, T> entry : basket.entrySet()) {
            T item = entry.getValue();
            if (item.price < 0) continue;
            this.total += item.price;
            items.add(item);
        }
        var found = List.of(extra[0]);
        stock.byName[0] = found;
        this.bank.charge(total, Currency.EUR);
        builder
            .append("x");
        return Collections.<String, R>emptyMap();
    }

    public abstract int size();

    native void sync();

    @Deprecated static long price(Object thing) {
        int kind = 3;
        switch (kind) {
            case 1:
            case 2: break;
            default: return 0L;
        }
        long cents = switch (thing) {
            case Item i when i.price > 0 -> i.price;
            case Pair(var left, int right) -> { yield right; }
            default -> -1;
        };
        try (var reader = new FileReader("x"); Lock lock = locks.take()) {
            do { kind++; } while (kind < 10);
            while (true) break;
        } catch (IOException | SaleException error) {
            throw new a.b.Failure(error);
        } finally {
            log.info("done {}", kind);
        }
        return thing instanceof Item item ? item.price : cents;
    }

    void types() {
        int number = 1;
        long big = 2L;
        double ratio = 1.5;
        float small = 1.5f;
        String text = "s";
        char letter = 'c';
        boolean yes = true;
        var list = new ArrayList<String>(3);
        var client = new net.Client(number);
        int[] table = new int[3];
        Object cast = (Item) thing;
        String nothing = null;
        String same = text;
        Runnable run = () -> go(number);
        Function<Integer, Integer> twice = (value) -> value * factor;
        BiFunction<String, String, String> both = (String a, String b) -> a + b;
        names.forEach(System.out::println);
        String block = """
            words in a block
            """;
    }

    public void listen(Button button) {
        button.onClick(new Handler<Event>(button) {
            private int clicks;

            @Override
            public void handle(Event event) {
                clicks++;
                outer.print(event);
            }
        });
        class Local {
            int twice(int x) { return 2 * x; }
        }
        outer:
        for (int i = 0; i < 3; i++) {
            continue outer;
        }
    }

    // Counting is cheap.
    // It is done by hand.
    private static class Till {
        int count() { return 1; }

        static class Drawer {}
    }

    public enum Color implements Named {
        RED,
        GREEN("g") {
            @Override String shade() { return "dark"; }
        };

        private final String code;

        Color(String... code) { this.code = code[0]; }

        String shade() { return "plain"; }
    }

    public interface Seller extends Named, Comparable<Seller> {
        int FEE = 3;

        Receipt sell(Item item);

        default void close() {}

        static Seller of() { return null; }

        private void hidden() {}
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Audited {
        String value() default "all";
    }

    record Point(int x, double y) implements Named {
        Point {
            if (x < 0) throw new IllegalArgumentException();
        }

        double norm() { return Math.sqrt(x * x + y * y); }
    }
}

final class Größe {
    int größe() { return größe.wert; }
}

sealed interface Shape permits Circle {}
'''

# kind, name, first line, last line
DEFINITIONS = [
    ("class", "Shop", 14, 175),
    ("variable", "Shop.LIMIT", 18, 18),
    ("variable", "Shop.RATES, OTHER", 19, 19),
    ("variable", "Shop.HOME", 20, 20),
    ("method", "Shop.Shop", 29, 33),
    ("method", "Shop.Shop", 35, 37),
    ("method", "Shop.sell", 39, 59),
    ("method", "Shop.size", 61, 61),
    ("method", "Shop.sync", 63, 63),
    ("method", "Shop.price", 65, 86),
    ("method", "Shop.types", 88, 109),
    ("method", "Shop.listen", 111, 128),
    ("class", "Shop.listen.Handler", 112, 120),
    ("method", "Shop.listen.Handler.handle", 115, 119),
    ("class", "Shop.listen.Local", 121, 123),
    ("method", "Shop.listen.Local.twice", 122, 122),
    ("class", "Shop.Till", 132, 136),
    ("method", "Shop.Till.count", 133, 133),
    ("class", "Shop.Till.Drawer", 135, 135),
    ("enum", "Shop.Color", 138, 149),
    ("class", "Shop.Color.GREEN", 140, 142),
    ("method", "Shop.Color.GREEN.shade", 141, 141),
    ("method", "Shop.Color.Color", 146, 146),
    ("method", "Shop.Color.shade", 148, 148),
    ("interface", "Shop.Seller", 151, 161),
    ("variable", "Shop.Seller.FEE", 152, 152),
    ("method", "Shop.Seller.sell", 154, 154),
    ("method", "Shop.Seller.close", 156, 156),
    ("method", "Shop.Seller.of", 158, 158),
    ("method", "Shop.Seller.hidden", 160, 160),
    ("interface", "Shop.Audited", 163, 166),
    ("method", "Shop.Audited.value", 165, 165),
    ("class", "Shop.Point", 168, 174),
    ("method", "Shop.Point.Point", 169, 171),
    ("method", "Shop.Point.norm", 173, 173),
    ("class", "Größe", 177, 179),
    ("method", "Größe.größe", 178, 178),
    ("interface", "Shape", 181, 181),
]


@cache
def extraction() -> Extraction:
    return extract("java", "Shop.java", SOURCE.encode())


def definitions(source: bytes) -> list[Chunk]:
    return definitions_of("java", source, "A.java")


def chunk(name: str) -> Chunk:
    return next(found for found in extraction().chunks if found.mode == "code" and found.name == name)


def method(body: str) -> Chunk:
    """The chunk of a method with this body, in a class of its own."""
    return definitions(f"import a.b.Tool;\nclass A {{ void f() {{ {body} }} }}\n".encode())[1]


def test_every_definition_is_found_with_its_kind_qualified_name_and_lines() -> None:
    found = [(item.kind, item.name, item.start_line, item.end_line) for item in definitions_in(extraction())]

    assert found == DEFINITIONS


def test_a_range_of_bytes_holds_the_annotations_and_the_body() -> None:
    found = chunk("Shop.sell")
    text = SOURCE.encode()[found.start : found.end].decode()

    assert text.startswith("@Override\n")
    assert text.endswith("emptyMap();\n    }")


def test_the_text_of_a_class_keeps_signatures_and_leaves_out_bodies() -> None:
    text = chunk("Shop").text or ""

    assert "public Shop(final String name, int... sizes) throws IOException ..." in text
    assert "protected List<T> items;" in text
    assert "requireNonNull(name)" not in text


def test_javadoc_and_comments_are_prose_and_document_what_is_below_them() -> None:
    prose = [(item.kind, item.name, item.text) for item in extraction().chunks if item.mode == "extracted-prose"]

    assert prose == [
        ("comment", "", "A shop that sells things."),
        ("docstring", "Shop", "Sells items.\nIt is open by day."),
        ("docstring", "Shop.LIMIT", "How many."),
        ("docstring", "Shop.Shop", "Opens a shop."),
        ("comment", "Shop.sell", "what is sold"),
        ("docstring", "Shop.Till", "Counting is cheap.\nIt is done by hand."),
    ]
    assert chunk("Shop").doc == "Sells items.\nIt is open by day."
    assert chunk("Shop.sell").doc == ""


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("Shop.size", "public abstract int size()"),
        ("Shop.Shop", "public Shop(final String name, int... sizes) throws IOException"),
        ("Shop.LIMIT", "public static final int LIMIT = 10;"),
        ("Shop.Point", "record Point(int x, double y) implements Named"),
        ("Shop.listen.Handler", "new Handler<Event>(button)"),
        ("Shop.Seller", "public interface Seller extends Named, Comparable<Seller>"),
        ("Shop.Audited.value", 'String value() default "all"'),
        ("Shop.listen.Handler.handle", "@Override public void handle(Event event)"),
    ],
)
def test_a_signature_is_one_line(name: str, signature: str) -> None:
    assert chunk(name).signature == signature


@pytest.mark.parametrize(
    ("name", "visibility"),
    [
        ("Shop", "public"),
        ("Shop.sell", "protected"),
        ("Shop.Till", "private"),
        ("Shop.sync", "internal"),
        ("Shop.RATES, OTHER", "private"),
        ("Shop.HOME", "internal"),
        ("Shop.Seller.close", "public"),
        ("Shop.Seller.hidden", "private"),
    ],
)
def test_visibility_is_the_access_modifier_or_that_of_the_package(name: str, visibility: str) -> None:
    assert chunk(name).visibility == visibility


@each_row(
    ("name", "fact", "expected"),
    [
        ("Shop.sell", "params", ["basket", "extra", "rest"]),
        ("Shop.sell", "param_types", ["basket: Map<String, T>", "extra: T[]", "rest: String[]..."]),
        ("Shop.Shop", "param_types", ["name: String", "sizes: int..."]),
        ("Shop.Point", "params", ["x", "y"]),
        ("Shop", "decorators", ["Component", "Deprecated"]),
        ("Shop.sell", "decorators", ["Override", "SuppressWarnings"]),
        ("Shop.HOME", "decorators", ["Inject"]),
        ("Shop", "modifiers", ["public", "abstract"]),
        ("Shop.sell", "modifiers", ["protected", "synchronized"]),
        ("Shop.HOME", "modifiers", ["final", "static"]),
        ("Shop", "extends", ["Base<T>", "Seller", "java.io.Closeable"]),
        ("Shop.Seller", "extends", ["Named", "Comparable<Seller>"]),
        ("Shop.Color", "extends", ["Named"]),
        ("Shop.Point", "extends", ["Named"]),
        ("Shop.listen.Handler", "extends", ["Handler<Event>"]),
        ("Shop.sell", "return_types", ["Map<String, List<R>>"]),
        ("Shop.Audited.value", "return_types", ["String"]),
        ("Shop.sell", "throws", ["SaleException", "java.io.IOException", "IllegalArgumentException"]),
        ("Shop.price", "throws", ["a.b.Failure"]),
        ("Shop.Shop", "calls", ["super", "requireNonNull", "java.util.Objects.requireNonNull", "ArrayList"]),
        ("Shop.Point.norm", "reads", ["x", "y"]),
        ("Größe.größe", "reads", ["größe.wert"]),
        ("Shop.price", "reads",
            ["kind", "thing", "i.price", "right", "locks", "error", "log", "item.price", "cents"]),
        ("Shop.price", "writes",
            ["kind", "cents", "reader", "lock", "i", "left", "right", "error", "item"]),
        ("Shop.Shop", "writes", ["this.name", "items"]),
        ("Shop.Shop", "mutations", ["this.name"]),
        ("Shop.types", "aliases", ["same=text"]),
        ("Shop.Shop", "inferred_types", ["items: ArrayList"]),
        ("Shop", "exports", ["Shop"]),
        ("Größe", "exports", []),
    ],
)  # fmt: skip
def test_a_fact_is_exactly_what_the_source_says(name: str, fact: str, expected: list[str]) -> None:
    assert chunk(name).facts.get(fact, []) == expected


def test_literals_constructors_and_casts_give_types_away() -> None:
    found = chunk("Shop.types").facts["inferred_types"]

    assert {
        "number: int", "big: long", "ratio: double", "small: float", "text: String", "letter: char",
        "yes: boolean", "list: ArrayList<String>", "client: net.Client", "table: int[]", "cast: Item",
        "block: String",
    } <= set(found)  # fmt: skip


def test_uses_are_the_names_that_come_from_outside() -> None:
    uses = set(chunk("Shop.types").facts["uses"])

    assert {"thing", "factor", "System.out", "ArrayList", "net.Client", "Runnable", "Integer"} <= uses
    assert not {"number", "text", "value", "a", "b", "var", "types", "println"} & uses


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("Shop.sell", {"branches": 2, "loops": 1, "breaks": 0, "continues": 1, "returns": 1, "complexity": 6}),
        ("Shop.price", {"branches": 6, "loops": 2, "breaks": 2, "continues": 0, "returns": 2, "complexity": 9}),
        ("Shop.listen", {"branches": 0, "loops": 1, "breaks": 0, "continues": 1, "returns": 0, "complexity": 2}),
        ("Shop.Till.Drawer", {}),
    ],
)
def test_control_flow_is_counted_for_its_innermost_definition(name: str, counts: dict[str, int]) -> None:
    assert chunk(name).counts == counts


def test_a_method_that_returns_a_value_is_flagged() -> None:
    assert chunk("Shop.sell").flags == {"returns"}
    assert chunk("Shop.types").flags == set()


def test_the_file_knows_its_imports_and_exports_its_public_types() -> None:
    found = extraction()

    assert found.imports == [
        "java.util",
        "java.util.List",
        "java.util.concurrent.atomic.AtomicInteger",
        "java.util.Objects",
        "org.junit.Assert",
    ]
    assert found.exports == ["Shop"]
    assert found.remarks == []


def test_call_sites_and_writes_point_into_the_source() -> None:
    source = b'class A { void f() { String x = q; run("a", x); new Tool(x); } }'
    found = definitions(source)[1]

    assert [(site.callee, source[site.start : site.end]) for site in found.call_sites] == [
        ("run", b'("a", x)'),
        ("Tool", b"(x)"),
    ]
    assert [(item.target, source[item.start : item.end]) for item in found.written] == [("x", b"q")]


@pytest.mark.parametrize(
    ("body", "reads"),
    [
        ('"a" + b + \'c\' + "d\\n"', ["b"]),
        ("Type.call(a.b); TABLE.get();", ["a.b", "TABLE"]),
        ("xs.map(Item::price).x", ["xs", "Item"]),
        ("again: while (a) { break again; }", ["a"]),
        ("record.save(when);", ["record", "when"]),
        ("int x = 1; x += 2; y[z] = w;", ["x", "y", "z", "w"]),
        ("/* c */ d(e); // f", ["e"]),
        ("(Item) a; b instanceof Item c; @Foo(k = V) int d = e;", ["a", "b", "V", "e"]),
    ],
)
def test_only_names_that_are_read_are_reads(body: str, reads: list[str]) -> None:
    found = method(body).facts["reads"]

    assert [name for name in found if name != "Foo"] == reads


def test_constructors_are_called_by_the_name_of_their_type_and_of_its_import() -> None:
    assert method("new Tool(); new Tool<String>(); new x.Y();").facts["calls"] == ["Tool", "a.b.Tool", "x.Y"]


def test_broken_syntax_costs_only_what_is_broken() -> None:
    source = b"""class A {
    int before() { return 1; }
    int broken( { if (x ] return;
    }
    int after() { return 2; }
    void half() { foo(; bar() }
    int last() { return 3; }
}
class B { void f( }
class C { void g() {} }
"""
    names = {found.name for found in definitions(source)}

    assert {"A", "A.before", "A.after", "A.last", "B", "C", "C.g"} <= names
    assert extract("java", "A.java", source).remarks


def test_line_ends_of_windows_change_no_definition_and_no_fact() -> None:
    found = extract("java", "Shop.java", SOURCE.replace("\n", "\r\n").encode())
    code = definitions_in(found)

    assert [(item.kind, item.name, item.start_line, item.end_line) for item in code] == DEFINITIONS
    assert [item.facts for item in code] == [item.facts for item in definitions(SOURCE.encode())]


@pytest.mark.parametrize("source", [b"", b"\n\n", b"\xef\xbb\xbf", b"\x00\x00", b"}}}}", b"\xff\xfe{("])
def test_files_with_nothing_in_them_have_no_definitions(source: bytes) -> None:
    assert definitions(source) == []


def test_deep_nesting_is_neither_fatal_nor_slow() -> None:
    parentheses = b"class A { int f() { return " + b"(" * 10_000 + b"1" + b")" * 10_000 + b"; } }"
    blocks = b"class A { void f() { " + b"{" * 5_000 + b"}" * 5_000 + b" } }"
    classes = b"class A { " * 2_000 + b"}" * 2_000

    assert [found.name for found in definitions(parentheses)] == ["A", "A.f"]
    assert definitions(blocks)
    assert definitions(classes)[0].name == "A"


def test_java_has_no_defaults_and_nothing_to_await() -> None:
    fields = fields_of("java")

    assert {"modifiers", "decorators", "throws", "extends", "calls", "complexity", "returns"} <= fields
    assert not {"async", "generator", "awaits", "param_defaults"} & fields
    assert {fact for item in extraction().chunks for fact in item.facts} <= fields
