"""Templates of addresses: what fits, what the values are, what is refused, and that no address takes long."""

import time

import pytest

from holdfast.contract.uri_template import MAX_URI, UnsafeValue, UriTemplate, parse_template
from holdfast.errors import ContractError


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("app://books/{number}", "app://books/7", {"number": "7"}),
        ("app://books/{number}", "app://books/7/pages", None),
        ("app://books/{number}", "app://books/", None),
        ("app://books/{number}.png", "app://books/a.b.png", {"number": "a.b"}),
        ("app://books/{title}", "app://books/a%20b%C3%A9", {"title": "a bé"}),
        ("app://t/{id}/data", "app://t/123/data", {"id": "123"}),
        ("app://d/{year}-{month}-{day}", "app://d/2026-11-17", {"year": "2026", "month": "11", "day": "17"}),
        ("app://d/{a}--{b}", "app://d/x-y--z", {"a": "x-y", "b": "z"}),
        ("app://files/{+path}", "app://files/a/b/c.txt", {"path": "a/b/c.txt"}),
        ("app://files/{+path}/{name}", "app://files/a/b/c", {"path": "a/b", "name": "c"}),
        ("app://files{+path}", "app://files/a/b", {"path": "/a/b"}),
        ("app://proxy/{+address}", "app://proxy/https://a/b", {"address": "https://a/b"}),
        ("app://page{#part}", "app://page#/one", {"part": "/one"}),
        ("app://log/{+range}", "app://log/main..next", {"range": "main..next"}),
        ("app://books{/number}", "app://books/7", {"number": "7"}),
        ("app://f/{name}{.ext}", "app://f/page.md", {"name": "page", "ext": "md"}),
        ("app://page{#part}", "app://page#one/two", {"part": "one/two"}),
        ("app://find{?word,limit}", "app://find", {}),
        ("app://find{?word,limit}", "app://find?limit=3&word=a%26b", {"limit": "3", "word": "a&b"}),
        ("app://find{?word}", "app://find?other=1", None),
        ("app://find{?word}", "app://find?word=1&word=2", None),
        ("app://books/{number}", "app://books/" + "7" * MAX_URI, None),
    ],
)
def test_an_address_fits_a_template_or_not(template: str, uri: str, values: dict[str, str] | None) -> None:
    assert parse_template(template).match(uri) == values


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("app://books/{name}", "app://books/.."),
        ("app://books/{name}", "app://books/a%2Fb"),
        ("app://books/{name}", "app://books/%2e%2e"),
        ("app://books/{name}", "app://books/a..b"),
        ("app://books/{name}", "app://books/a%5Cb"),
        ("app://books/{name}", "app://books/a%00"),
        ("app://books/{name}", "app://books/%ff"),
        ("app://files/{+path}", "app://files/../etc/passwd"),
        ("app://files/{+path}", "app://files/a/%2e%2e/b"),
        ("app://files/{+path}", "app://files/a\\..\\b"),
        ("app://files/{+path}", "app://files//etc/passwd"),
        ("app://files/{+path}", "app://files/%2Fetc/passwd"),
        ("app://files/{+path}", "app://files/C:/Windows"),
        ("app://files/{+path}", "app://files/c%3A%2FWindows"),
        ("app://files{+path}", "app://files//etc/passwd"),
        ("app://files{+path}", "app://files/C:/Windows"),
        ("app://{+path}", "app:///etc/passwd"),
        ("app://find{?word}", "app://find?word=..%2F"),
    ],
)
def test_a_value_that_could_lead_elsewhere_is_refused(template: str, uri: str) -> None:
    with pytest.raises(UnsafeValue):
        parse_template(template).match(uri)


@pytest.mark.parametrize(
    "text",
    [
        "no-scheme/{x}",
        "app://{x",
        "app://{x}}",
        "app://{}",
        "app://{a}{b}",
        "app://{x*}",
        "app://{x:3}",
        "app://{;x}",
        "app://{a,b}",
        "app://{x}/{x}",
        "app://{+a}/{+b}",
        "app://{?a}/b",
        "app://a b/{x}",
        "app://" + "a" * MAX_URI + "{x}",
    ],
)
def test_a_template_that_cannot_be_meant_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(ContractError) as refused:
        parse_template(text)
    assert refused.value.remedy


def test_an_address_made_of_values_has_the_same_values() -> None:
    template = parse_template("app://x/{name}/{+path}{?word,limit}")
    values = {"name": "a b", "path": "c/d e", "word": "ä&="}
    made = template.expand(values)
    assert made == "app://x/a%20b/c/d%20e?word=%C3%A4%26%3D"
    assert template.match(made) == values


def test_no_address_takes_long_to_be_found_not_to_fit() -> None:
    template: UriTemplate = parse_template("app://x/{a}-{b}-{c}-{d}.{e}/end{?q}")
    begun = time.process_time()
    assert template.match("app://x/" + "-." * (MAX_URI // 2 - 10)) is None
    assert template.match("app://x/" + "a-" * (MAX_URI // 2 - 10)) is None
    assert time.process_time() - begun < 5  # exponential or cubic would be hours
