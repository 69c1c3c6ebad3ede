"""Definitions, references and callers of a name: the certain ones first, and what is a guess says so."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from holdfast.search.library import SearchIndex, build_index, open_index
from holdfast.search.repository import find_repository
from holdfast.search.request import SearchRequest

FILES = {
    "shop/till.py": """
from .stock import Stock, reserve as put_aside
import shop.stock as goods
from shop import stock


class Till:
    def close(self):
        return self.count()

    def count(self):
        return 1


class Drawer:
    def close(self):
        return count()


def by_name():
    put_aside("A-1")


def by_module():
    return goods.reserve("A-2")


def by_package():
    return stock.reserve("A-3")


def by_nothing(anything):
    anything.reserve("A-4")
    Till().close()


def renamed_variable():
    stock_of_tea = 1
    return stock_of_tea
""",
    "shop/hidden.py": """
import shop
import shop_tools
from shop.stock import reserve
from shop_tools import lock


def parameter(reserve):
    return reserve("A-5")


def variable(make):
    reserve = make()
    return reserve("A-6")


def nested():
    def inner(reserve):
        return reserve("A-7")

    return inner, reserve("A-8")


def by_the_longer_module():
    shop_tools.lock()
""",
    "shop_tools.py": """
def lock():
    return unlock


def unlock():
    return 1


def own(unlock):
    return unlock()
""",
    "shop/stock.py": """
class Stock:
    \"\"\"reserve is only spoken of here.\"\"\"


def reserve(sku):
    return check(sku)


def check(sku):
    return sku

""",
    "web/cart.js": """
import { total as sum } from "./prices.js";
import * as prices from "./prices";
export function show() { return sum(); }
export function tell() { return prices.total(); }
export function guess(thing) { return thing.total(); }
""",
    "web/prices.js": "export function total() { return 1; }\n",
    "kit/__init__.py": "",
    "kit/a.py": "def target():\n    return 1\n",
    "kit/b.py": "def target():\n    return 2\n",
    "kit/use.py": """
from kit.a import target


def by_the_file():
    return target()


def by_its_own_import():
    from kit.b import target

    return target()


def loops(things):
    for target in things:
        target()


def closes(things):
    with things as target:
        return [target() for target in things], target()
""",
    "kit/stranger.py": "from a import target\n\n\ndef absolute():\n    return target()\n",
    "go.mod": "module example.com/post\n",
    "mail/app/main.go": """
package main

import "example.com/post/mail"
import other "example.com/foreign/mail"

func Main() { mail.Send() }
func Foreign() { other.Send() }
""",
    "java/com/app/Own.java": """
package com.app;
import static com.shop.Store.open;
class Own { void open() {} void go() { open(); } }
class Guest { void go() { open(); } }
""",
    "mail/send.go": "package mail\n\nfunc Send() { pack() }\n",
    "mail/pack.go": "package mail\n\nvar First, Second = 1, 2\n\nfunc pack() {}\n",
    "mail/other/pack.go": "package other\n\nfunc Use() { pack() }\n",
    "java/com/shop/Store.java": "package com.shop;\npublic class Store { public static void open() {} }\n",
    "java/com/app/Main.java": """
package com.app;
import com.shop.Store;
class Main { void run() { Store.open(); } }
""",
}

Ask = Callable[..., list[tuple[str, str]]]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchIndex]:
    place = tmp_path_factory.mktemp("symbols")
    for path, text in FILES.items():
        file = place / "repo" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    repository = find_repository(place / "repo")
    build_index(repository, place / "cache")
    with open_index(repository, place / "cache") as found:
        yield found


@pytest.fixture
def ask(index: SearchIndex) -> Ask:
    """(name of the hit, how it is tied) of every hit, in order."""

    def search(**arguments: Any) -> list[tuple[str, str]]:
        answer = index.search(SearchRequest.from_arguments({"query": "*", "top": 50, **arguments}))
        return [(hit["name"], hit["symbol"][0]["by"]) for hit in answer["code"]]

    return search


def test_callers_that_an_import_leads_from_come_before_those_that_only_say_the_name(ask: Ask) -> None:
    assert ask(callers="reserve", path="till") == [
        ("by_name", "import"), ("by_module", "import"), ("by_package", "import"), ("by_nothing", "name"),
    ]  # fmt: skip


def test_what_a_parameter_or_a_variable_hides_is_a_guess(ask: Ask) -> None:
    assert dict(ask(callers="reserve", path="hidden")) == {
        "nested": "import", "parameter": "name", "variable": "name", "nested.inner": "name",
    }  # fmt: skip
    assert ask(callers="unlock") == [("own", "name")]
    assert ask(callers="lock") == [("by_the_longer_module", "import")]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("total", [("show", "import"), ("tell", "import"), ("guess", "name")]),
        ("pack", [("Send", "package"), ("Use", "name")]),
        ("Store.open", [("Main.run", "import"), ("Guest.go", "import")]),
        ("Send", [("Main", "import"), ("Foreign", "name")]),
        ("kit.b.target", [("by_its_own_import", "import")]),
        ("check", [("reserve", "file")]),
        ("count", [("Till.close", "file"), ("Drawer.close", "name")]),
        ("Till.close", []),
        ("close", [("by_nothing", "name")]),
        ("nobody", []),
    ],
)
def test_who_calls_a_name_is_found_with_how_sure_it_is(ask: Ask, name: str, found: list[Any]) -> None:
    assert ask(callers=name) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("close", {"Till.close", "Drawer.close"}),
        ("Till.close", {"Till.close"}),
        ("Till::close()", {"Till.close"}),
        ("Second", {"First, Second"}),
        ("lose", set()),
        ("...", set()),
    ],
)
def test_a_definition_is_found_by_its_name_or_the_end_of_its_name(ask: Ask, name: str, found: set[str]) -> None:
    assert {hit for hit, _ in ask(definition=name)} == found


def test_a_word_in_prose_or_in_another_name_is_no_reference(ask: Ask) -> None:
    assert {name for name, _ in ask(references="stock")} == {"by_package"}
    assert "Stock" not in {name for name, _ in ask(references="reserve")}


def test_imports_and_variables_of_a_function_count_in_it_alone(index: SearchIndex) -> None:
    answer = index.search(SearchRequest(query="*", callers="target", top=50))
    told = {hit["name"]: hit["why"][0].partition(": ")[0::2] for hit in answer["code"]}

    assert told == {
        "by_the_file": ("calls kit.a.target", "by its import"),
        "by_its_own_import": ("calls kit.b.target", "by its import"),
        "loops": ("calls target", "a guess, by the name alone"),
        "closes": ("calls target", "a guess, by the name alone"),
        "absolute": ("calls target", "a guess, by the name alone"),
    }


def test_a_hit_says_why_it_was_found_and_whether_that_is_a_guess(index: SearchIndex) -> None:
    answer = index.search(SearchRequest(query="*", callers="reserve", path=("till",)))

    first, last = answer["code"][0], answer["code"][-1]
    assert first["why"][0] == "calls .stock.reserve: by its import"
    assert last["why"][0] == "calls anything.reserve: a guess, by the name alone"
    assert (first["symbol"][0]["resolved"], last["symbol"][0]["resolved"]) == (True, False)
    assert any(line["highlights"] for line in last["snippet"]["lines"])


def test_symbols_are_asked_for_together_with_words_and_filters(ask: Ask) -> None:
    assert ask(callers="reserve", query="A-2") == [("by_module", "import")]
    assert ask(callers="total", path="cart", query="guess") == [("guess", "name")]
    assert ask(definition="close", references="count") == [("Till.close", "file"), ("Drawer.close", "file")]


def test_a_method_that_is_only_called_on_objects_is_told_with_what_to_ask_for(index: SearchIndex) -> None:
    def warnings(**asked: Any) -> list[str]:
        answer = index.search(SearchRequest(query="*", **asked))
        return [one["message"] for one in answer["warnings"] if one["code"] == "unknown-value"]

    told = "nothing in this index writes Drawer.close; a method is called on an object, so ask for close"
    assert warnings(callers="Drawer.close") == [f"callers: {told}"]
    assert warnings(callers="Drawer.close", path="nowhere")[-1] == f"callers: {told}"
    assert warnings(callers="close") == warnings(definition="Drawer.close") == []


def test_a_name_that_is_defined_nowhere_is_told(index: SearchIndex) -> None:
    answer = index.search(SearchRequest(query="*", callers="nobody"))

    told = "callers: nothing that is called nobody is defined in this index"
    assert {"code": "unknown-value", "message": told} in answer["warnings"]
