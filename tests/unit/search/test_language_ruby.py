"""Ruby: what its labelled sample does not show. Sections, names with signs, calls without brackets."""

import pytest
from tests.rows import each_row

from holdfast.search.extract.code import extract
from holdfast.search.model import Chunk


def chunk(body: str, name: str = "f") -> Chunk:
    chunks = extract("ruby", "a.rb", body.encode()).chunks
    return next(found for found in chunks if found.mode == "code" and found.name == name)


VISIBILITY = """\
class A
  class << self
    private
    def inside; end
  end
  def open; end
  private
  def self.of_the_class; end
  def hidden; end
  def shown_again; end
  public :shown_again
  def self.hidden_by_name; end
  private_class_method :hidden_by_name
  protected def near; end
end
"""


@each_row(
    ("name", "visibility"),
    [
        ("inside", "private"),
        ("open", "public"),
        ("of_the_class", "public"),
        ("hidden", "private"),
        ("shown_again", "public"),
        ("hidden_by_name", "private"),
        ("near", "protected"),
    ],
)
def test_sections_words_and_names_say_who_may_call_a_method(name: str, visibility: str) -> None:
    assert chunk(VISIBILITY, f"A.{name}").visibility == visibility


@each_row(
    ("body", "fact", "expected"),
    [
        ("total", "calls", ["total"]),
        ("total = 1\n total", "calls", []),
        ("[1].each { |x| x }", "calls", ["each"]),
        ("user&.name", "calls", ["user&.name", "user"]),
        ("User.find id", "calls", ["User.find", "id"]),
        ("valid? && save!", "calls", ["valid?", "save!"]),
        ("self.count = 1", "calls", []),
        ("self.count = 1", "mutations", ["self.count"]),
        ("@@all[:x] = 1", "mutations", ["@@all[]"]),
        ("$last = 1", "writes", ["$last"]),
        ("a, @b = 1, 2", "writes", ["a", "@b"]),
        ("x = queue.pop", "aliases", []),
        ("x = @queue", "aliases", ["x=@queue"]),
        ("x = Net::HTTP.new(1)", "inferred_types", ["x: Net::HTTP"]),
        ("raise", "throws", []),
        ("raise Oops::Again", "throws", ["Oops::Again"]),
        ('raise "text"', "throws", []),
        ("puts :symbol, key: 1", "reads", []),
        ("case x\n in {name:, age: Integer => n} then n\n end", "writes", ["n", "name"]),
    ],
)
def test_what_a_method_does_is_told_as_it_is_written(body: str, fact: str, expected: list[str]) -> None:
    assert sorted(chunk(f"def f\n {body}\nend\n").facts.get(fact, [])) == sorted(expected)


def test_parameters_of_every_kind_are_told_by_their_names() -> None:
    found = chunk('def f(a, (b, *c), d = {x: [1, 2]}, *r, k:, o: "a, b", **nil, &blk)\nend\n').facts

    assert sorted(found["params"]) == ["a", "b", "blk", "c", "d", "k", "o", "r"]
    assert found["param_defaults"] == ["d={x: [1, 2]}", 'o="a, b"']


def test_a_method_without_brackets_around_its_parameters_has_them_all_the_same() -> None:
    assert chunk("def f a, b = 2\nend\n").facts["params"] == ["a", "b"]


def test_what_a_lambda_returns_is_not_returned_by_the_method_but_a_block_returns_for_it() -> None:
    assert chunk("def f\n g = -> { return 1 }\nend\n").counts["returns"] == 0
    assert chunk("def f\n each { return 1 }\nend\n").counts["returns"] == 1


def test_calls_with_and_without_brackets_have_their_arguments() -> None:
    source = 'def f(a)\n system("ls #{a}")\n eval a\n end\n'
    sites = [(site.callee, source[site.start : site.end]) for site in chunk(source).call_sites]

    assert sites == [("system", '("ls #{a}")'), ("eval", "a")]


@pytest.mark.parametrize(
    ("line", "module"),
    [('require "json"', "json"), ('require_relative "lib/a"', "./lib/a"), ("require('net/http')", "net/http")],
)
def test_required_files_are_imports(line: str, module: str) -> None:
    assert extract("ruby", "a.rb", line.encode()).imports == [module]


def test_modules_that_are_mixed_in_are_bases_as_much_as_the_superclass() -> None:
    assert chunk("class f < Base\n include A::B\n extend C\nend\n".replace("f", "F"), "F").facts["extends"] == [
        "Base",
        "A::B",
        "C",
    ]


def test_names_from_the_root_are_told_without_the_sign_before_them() -> None:
    found = chunk("def f(a)\n  ::File.join(a)\n  raise ::Shop::Closed, a\nend\n")

    assert found.facts["calls"] == ["File.join"]
    assert found.facts["throws"] == ["Shop::Closed"]
