"""Elixir: what its labelled sample does not show. Patterns, imports with their options, odd calls."""

from tests.rows import each_row

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.model import Chunk


def function(body: str, head: str = "f(a, b)") -> Chunk:
    source = f"defmodule A do\n def {head} do\n{body}\n end\nend\n"
    chunks = extract("elixir", "a.ex", source.encode()).chunks
    return next(found for found in chunks if found.mode == "code" and found.name == "A.f")


@each_row(
    ("body", "fact", "expected"),
    [
        ("a |> String.trim |> run()", "calls", ["String.trim", "run"]),
        ("b.(1)", "calls", ["b"]),
        ("if x = g(a), do: x", "writes", ["x"]),
        ("with {:ok, %{k: [h | t]}} <- a, n = g(h), do: {t, n}", "writes", ["h", "n", "t"]),
        ("<<c::8, rest::binary>> = a", "writes", ["c", "rest"]),
        ('"x" <> tail = a', "writes", ["tail"]),
        ("{:ok, ^b} = a", "writes", []),
        ("fn %{k: v} = m -> g(v, m) end", "writes", []),
        (":erlang.now()", "calls", [":erlang.now"]),
        ("a.name", "calls", []),
        ("a.name", "reads", ["a.name"]),
        ("valid?(a) and save!(b)", "calls", ["save!", "valid?"]),
        ("&valid?/1", "uses", ["valid?"]),
        ("if a, do: b", "calls", []),
        ("{:ok, {x, y}} = a", "writes", ["x", "y"]),
        ("%{k: x} = a", "writes", ["x"]),
        ("[x | rest] = a", "writes", ["rest", "x"]),
        ("fn {x, y} -> x + y end", "uses", []),
        ("case a do\n {:ok, x} -> x\n end", "uses", []),
        ("for {k, v} <- a, do: {k, v}", "writes", ["k", "v"]),
        ("x = %User{name: a}", "inferred_types", ["x: User"]),
        ("x = a", "aliases", ["x=a"]),
        ("x = Mod.call", "aliases", []),
        ("@limit + @other", "reads", ["@limit", "@other"]),
        ("~r/word/i", "reads", []),
        ("raise Oops", "throws", ["Oops"]),
        ('raise "text"', "throws", []),
    ],
)
def test_what_a_function_does_is_told_as_it_is_written(body: str, fact: str, expected: list[str]) -> None:
    assert sorted(function(body).facts.get(fact, [])) == sorted(expected)


@each_row(
    ("head", "params"),
    [
        ('f(%{"key" => x} = all, [h | _], {:ok, y})', ["x", "all", "h", "y"]),
        ("f(a \\\\ %{b: 1}, c)", ["a", "c"]),
        ("f(%User{id: id} = user) when is_integer(id)", ["id", "user"]),
        ("f(<<x, rest::binary>>)", ["x", "rest"]),
        ("f a, b", ["a", "b"]),
        ("f(_, nil)", []),
    ],
)
def test_parameters_are_told_by_the_names_in_their_patterns(head: str, params: list[str]) -> None:
    assert function(":ok", head).facts.get("params", []) == params


@each_row(
    ("line", "modules", "called", "resolved"),
    [
        ("alias X.Y", ["X.Y"], "Y.run(1)", "X.Y.run"),
        ("alias X.Y, as: Z", ["X.Y"], "Z.run(1)", "X.Y.run"),
        ("alias X.{Y, Z.W}", ["X.Y", "X.Z.W"], "W.run(1)", "X.Z.W.run"),
        ("import X.Y, only: [go: 1, run: 2]", ["X.Y"], "go(1)", "X.Y.go"),
        ("require X.Y, as: Z", ["X.Y"], "Z.run(1)", "X.Y.run"),
        ("use X.Y, opt: 1", ["X.Y"], "go(1)", "go"),
    ],
)
def test_imported_names_are_resolved(line: str, modules: list[str], called: str, resolved: str) -> None:
    source = f"defmodule A do\n {line}\n def f, do: {called}\nend\n"
    found = extract("elixir", "a.ex", source.encode())

    assert found.imports == modules
    assert resolved in next(item for item in found.chunks if item.name == "A.f").facts["calls"]


def test_the_head_of_a_function_and_its_specification_call_nothing() -> None:
    source = b"defmodule A do\n @spec f(String.t()) :: list(term()) when t: term()\n def f(x), do: x\nend\n"
    found = next(item for item in extract("elixir", "a.ex", source).chunks if item.name == "A.f")

    assert "calls" not in found.facts
    assert found.facts["return_types"] == ["list(term())"]


def test_nothing_is_claimed_that_the_language_does_not_have() -> None:
    assert not {"returns", "breaks", "continues", "async", "generator", "mutations"} & fields_of("elixir")


@each_row(
    ("above", "doc"),
    [
        ('@doc "Opens it."', "Opens it."),
        ('@doc ~S"""\n  Opens `#{x}`.\n  """', "Opens `#{x}`."),
        ('@doc """\n  Opens it.\n  """\n  @doc since: "1.7.0"', "Opens it."),
        (
            '@doc "Opens it."\n  @doc deprecated: "no"\n  @deprecated "Use two"\n  @impl true\n  @spec f(a) :: b',
            "Opens it.",
        ),
        ("@doc false", ""),
    ],
)
def test_documentation_belongs_to_the_function_behind_whatever_else_is_said_of_it(above: str, doc: str) -> None:
    source = f"defmodule A do\n  {above}\n  def f(x), do: x\n\n  def g(x), do: x\nend\n"
    found = {
        chunk.name: chunk.doc
        for chunk in extract("elixir", "a.ex", source.encode()).chunks
        if chunk.mode == "code"
    }
    assert found == {"A": "", "A.f": doc, "A.g": ""}


def test_a_module_may_be_documented_by_a_sigil() -> None:
    source = b'defmodule A do\n  @moduledoc ~S"""\n  Sells `#{things}`.\n  """\nend\n'
    assert extract("elixir", "a.ex", source).chunks[0].doc == "Sells `#{things}`."
