"""Shell: what its labelled sample does not show. Words that are no names, commands with signs, sourced files."""

from tests.rows import each_row

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.model import Chunk


def function(body: str) -> Chunk:
    chunks = extract("shell", "a.sh", f"f() {{\n{body}\n}}\n".encode()).chunks
    return next(found for found in chunks if found.mode == "code" and found.name == "f")


@each_row(
    ("body", "fact", "expected"),
    [
        ("echo hello world", "reads", []),
        ("echo 'say $x'", "reads", []),
        ('echo "$x ${y:-z} ${#list[@]}"', "reads", ["list", "x", "y"]),
        ("echo $(( a + b * 2 ))", "reads", ["a", "b"]),
        ("run ${x:-two-words $y} ${z/old-one/new-one}", "reads", ["x", "y", "z"]),
        ("cat <<EOF\nhello $x\nEOF", "reads", ["x"]),
        ("cat <<'EOF'\nhello $x\nEOF", "reads", []),
        ("echo $1 $@ $? $#", "reads", []),
        ("apt-get update | ./bin/run.sh -x", "calls", ["./bin/run.sh", "apt-get"]),
        ("X=1 env run", "calls", ["env"]),
        ('"$cmd" now', "calls", []),
        ('"$cmd" now', "reads", ["cmd"]),
        ("x=$(git log $(inner))", "calls", ["git", "inner"]),
        ("local x; x=1", "uses", []),
        ("a[1]=x", "mutations", ["a[]"]),
        ("a+=(x)", "mutations", ["a"]),
        ("x=$y", "aliases", ["x=y"]),
        ("for i in a b; do :; done", "writes", ["i"]),
    ],
)
def test_what_a_function_does_is_told_without_the_signs_of_variables(
    body: str, fact: str, expected: list[str]
) -> None:
    assert sorted(function(body).facts.get(fact, [])) == sorted(expected)


@each_row(
    ("body", "branches", "loops"),
    [
        ("if a; then b; elif c; then d; else e; fi", 2, 0),
        ("case x in a) ;; b|c) ;; esac", 2, 0),
        ("while a; do until b; do :; done; done", 0, 2),
        ("select x in a; do break; done", 0, 1),
    ],
)
def test_branches_and_loops_are_counted(body: str, branches: int, loops: int) -> None:
    counts = function(body).counts

    assert (counts["branches"], counts["loops"]) == (branches, loops)


def test_all_arguments_of_a_command_belong_to_its_call() -> None:
    source = "f() {\n eval \"$1\" -- 'a b'\n Y=$(inner) outer x > file\n}\n"
    found = next(item for item in extract("shell", "a.sh", source.encode()).chunks if item.name == "f")

    assert [(one.callee, source[one.start : one.end]) for one in found.call_sites] == [
        ("eval", "\"$1\" -- 'a b'"),
        ("outer", "x"),
    ]


def test_sourced_files_are_imports_and_only_what_is_exported_is_an_export() -> None:
    found = extract(
        "shell", "a.sh", b'. ./lib.sh\nsource "$DIR/b.sh"\nA=1\nexport B=2 C\nexport -f f\nf() { :; }\n'
    )

    assert found.imports == ["./lib.sh", "$DIR/b.sh"]
    assert found.exports == ["B", "C", "f"]


def test_nothing_is_claimed_that_a_shell_does_not_have() -> None:
    assert not {"params", "param_types", "visibility", "throws", "extends", "async"} & fields_of("shell")
