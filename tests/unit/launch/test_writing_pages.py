"""What an editor found on pages of real libraries: each of these was on a page once."""

from pathlib import Path
from time import process_time
from typing import Any

import pytest
from tests.launch.writing_places import configured, documents, made_pages, made_plan

from holdfast.launch.claim_marks import without_marks
from holdfast.launch.planning.candidates import described
from holdfast.launch.planning.examples import examples_of, first_examples
from holdfast.launch.writing.blocks import Bullets, Heading, Paragraph, Sentence, Table, unrepeated
from holdfast.launch.writing.inline import as_sentence, short_slug, short_title
from holdfast.launch.writing.known import Known
from holdfast.launch.writing.labels import labels
from holdfast.launch.writing.mentions import mentioned_symbols
from holdfast.launch.writing.pages.guides import topic_claims
from holdfast.launch.writing.pages.landing import key_features
from holdfast.launch.writing.pages.parts import (
    at_a_glance,
    dependency_lines,
    examples,
    inside,
    main_modules,
    on_one_line,
)


def known_of(given: dict[str, dict[str, Any]]) -> Known:
    return Known(given["product_facts.json"], given["evidence_map.json"], given["snippet_catalog.json"])


def snippet(code: str, **more: Any) -> dict[str, Any]:
    one: dict[str, Any] = documents()["snippet_catalog.json"]["snippets"][0]
    return one | {"code": code, "language": "python", "snippet_id": "snp_" + "0" * 16} | more


@pytest.mark.parametrize(
    ("title", "short"),
    [
        ("1. Tool Purpose and Description", "Tool Purpose and Description"),
        ("Effects: what happens to a call when its worker dies", "Effects"),
        ("Reading: CSV and JSON", "Reading: CSV and JSON"),
        ("join two tables.", "Join two tables"),
    ],
)
def test_a_title_is_short_and_has_no_number(title: str, short: str) -> None:
    assert short_title(title) == short


def test_an_address_is_cut_between_words() -> None:
    assert short_slug("Rendering using structlog-based formatters within logging") == (
        "rendering-using-structlog-based-formatters"
    )


def test_a_stop_that_stands_alone_at_the_end_goes() -> None:
    assert as_sentence("It can be forced on Windows. .") == "It can be forced on Windows."


def test_a_heading_or_a_line_whose_sentences_are_all_said_is_not_said_again() -> None:
    said = Paragraph((Sentence("Keys rotate."), Sentence("It takes weeks.")))
    again = Bullets((Sentence("Keys rotate. It takes weeks."), Sentence("Keys rotate. They are long.")))
    made = unrepeated([said, Heading(3, "The Salt"), again], "The Salt")
    assert made == [said, Bullets((Sentence("Keys rotate. They are long."),))]


def test_a_sentence_does_not_stay_behind_without_the_one_that_it_leans_on() -> None:
    first, more, other = (
        Sentence(text, ("c",)) for text in ("Rows are kept.", "This saves time.", "Tables sort.")
    )
    apart = unrepeated([Paragraph((first,)), Heading(2, "Example"), Paragraph((first, more, other))], "Title")
    assert apart[-1] == Paragraph((other,))
    together = unrepeated([Paragraph((first,)), Paragraph((first, more))], "Title")
    assert together[-1] == Paragraph((more,))


def test_systems_that_are_named_one_by_one_stand_on_one_line() -> None:
    lines = [Sentence("x requires Python 3.8 or newer.", ("a",)), Sentence("x runs on macOS.", ("b",))]
    made = on_one_line([*lines, Sentence("x runs on Windows.", ("c",)), Sentence("x runs on Linux.", ("d",))])
    assert made == [lines[0], Sentence("x runs on macOS, Windows and Linux.", ("b", "c", "d"))]


def test_no_dependency_is_left_out_of_the_list() -> None:
    given = documents()
    facts = given["product_facts.json"]
    one = facts["dependencies"][0]
    claim = one["claim_id"]
    facts["dependencies"] = [
        {"name": f"package{number}", "requirement": "", "claim_id": claim} for number in range(30)
    ]
    (line,) = dependency_lines(known_of(given))
    assert all(f"`package{number}`" in line.text for number in range(30))


def test_many_dependencies_are_listed_on_one_page_and_counted_on_the_other(tmp_path: Path) -> None:
    given = documents()
    facts = given["product_facts.json"]
    one = facts["dependencies"][0] | {"requirement": ""}
    facts["dependencies"] = [one | {"name": f"package{number}"} for number in range(29)]

    pages = made_pages(tmp_path, configured(tmp_path), given)[1]

    answer = without_marks(pages["kb/faq"])
    assert "tablekit depends on 29 packages, among them `package0`, `package1`," in answer
    assert "all are listed in [Install tablekit](../../../docs/tablekit/installation/)." in answer
    assert (answer.count("`package"), pages["docs/installation"].count("`package")) == (5, 29)


def test_a_guide_begins_with_no_sentence_that_goes_on_from_one_that_is_not_told(tmp_path: Path) -> None:
    given = documents()
    guide, first = "docs/reading-a-file", "`Table.read` opens a file and guesses its format from the suffix."
    claims = {claim["claim_text"]: claim for claim in given["product_facts.json"]["claims"]}
    second = claims["The encoding is UTF-8 by default."]
    for one in given["snippet_catalog.json"]["snippets"]:
        one.pop("introduction", None)
    whole = made_pages(tmp_path / "whole", configured(tmp_path), given)[1]
    assert without_marks(whole[guide]).split("---\n")[2].lstrip().startswith(first)

    for claim in (claims[first], second):
        claim["goes_on"] = True
    pages = made_pages(tmp_path / "inner", configured(tmp_path), given)[1]

    assert without_marks(pages[guide]).split("---\n")[2].lstrip().startswith("This page shows `Table`")
    assert f"- {second['claim_text']}" in without_marks(pages[guide]).split("## Good to know")[1]
    listed = next(line for line in pages["docs/developer-guide"].splitlines() if "../reading-a-file/" in line)
    assert listed == "- [Reading a file](../reading-a-file/)"


def test_no_extra_is_left_out_of_the_answer(tmp_path: Path) -> None:
    given = documents()
    (one,) = given["product_facts.json"]["extras"]
    for many in (4, 9):
        given["product_facts.json"]["extras"] = [one | {"name": f"part{number}"} for number in range(many)]
        answer = without_marks(made_pages(tmp_path, configured(tmp_path), given)[1]["kb/faq"])
        assert "The extra `excel` adds `openpyxl`" in answer if many == 4 else "extras `part0`, `part1`," in answer
    assert answer.count("`part") == many


def test_of_very_many_modules_those_near_the_root_are_told() -> None:
    deep = [{"module": f"big.part{one}.inner{two}"} for one in range(5) for two in range(20)]
    shallow: list[dict[str, Any]] = [{"module": f"big.part{one}"} for one in range(5)]
    assert main_modules([*shallow, *deep], 40) == shallow
    assert main_modules(shallow, 40) == shallow


def test_one_feature_alone_is_no_list_of_features() -> None:
    known = known_of(documents())
    made = inside(known, "Key features", 8, key_features(known)[:1])
    assert made[0] == Heading(2, "What is inside")
    assert not any(isinstance(block, Paragraph | Bullets) for block in made)


def test_a_list_of_features_names_each_without_a_sentence_around_it() -> None:
    given = documents()
    for claim, text in zip(
        given["product_facts.json"]["claims"],
        ("tablekit features printing *small* tables: one call.", "tablekit reads files."),
        strict=False,
    ):
        claim["claim_text"] = text
    ids = [claim["claim_id"] for claim in given["product_facts.json"]["claims"][:2]]
    heading, items = inside(known_of(given), "Key features", 8, ids)
    assert heading == Heading(2, "Key features")
    assert isinstance(items, Bullets)
    assert [one.text for one in items.items] == ["Printing small tables: one call.", "tablekit reads files."]
    assert [one.claims for one in items.items] == [(one,) for one in ids]


def test_an_interpreter_is_no_platform() -> None:
    given = documents()
    facts = given["product_facts.json"]
    claim = next(one for one in facts["claims"] if one["claim_id"] == facts["supported_platforms"][0]["claim_id"])
    claim["topic"] = "implementations"
    facts["supported_platforms"] = [
        {"platform": name, "claim_id": claim["claim_id"]} for name in ("CPython", "PyPy")
    ]
    (table,) = at_a_glance(known_of(given))
    assert isinstance(table, Table)
    rows = {row.cells[0]: row.cells[1] for row in table.rows}
    assert rows["Python implementations"] == "CPython, PyPy"
    assert "Platforms" not in rows


@pytest.mark.parametrize("most", [2, 5, 8])
def test_modules_are_told_in_place_of_features_however_few_features_would_have_room(most: int) -> None:
    known = known_of(documents())
    assert len([one for one in known.modules.values() if one["summary"]]) > 2
    assert inside(known, "What it does", most, ())[0] == Heading(2, "What is inside")


def test_where_features_and_modules_are_few_the_names_of_the_package_are_told() -> None:
    given = documents()
    facts = given["product_facts.json"]
    facts["code_structure"]["package_names"] = ["tablekit.table"]
    facts["api_symbols"] = [one for one in facts["api_symbols"] if one["module"] == "tablekit.table"]
    made = inside(known_of(given), "Key features", 8, ())
    table = made[-1]
    assert isinstance(table, Table)
    assert table.rows
    assert all(row.claims and all(row.cells) for row in table.rows)


def test_a_word_of_an_example_is_no_use_of_a_name_that_is_the_same() -> None:
    known = known_of(documents())
    names = [one["name"] for one in known.symbols if one["kind"] == "function"]
    module = next(one["module"] for one in known.symbols if one["name"] == names[0] and one["kind"] == "function")
    assert mentioned_symbols(known, [snippet(f"{names[0]} = 3\nprint({names[0]})")]) == []
    found = mentioned_symbols(known, [snippet(f"from {module} import {names[0]}\n{names[0]}()")])
    assert [one["name"] for one in found] == [names[0]]
    assert mentioned_symbols(known, [snippet(f'{{"{names[0]}": 1}}', language="json")]) == []


def test_an_example_is_not_shown_again_as_a_part_of_itself() -> None:
    given = documents()
    shown = [
        snippet("import tablekit\ntablekit.read('x')", tags=["t"], snippet_id="snp_" + "1" * 16, title="T"),
        snippet("tablekit.read('x')", tags=["t"], snippet_id="snp_" + "2" * 16, title="T"),
        snippet("pip install tablekit", tags=["t"], snippet_id="snp_" + "3" * 16, title="T"),
    ]
    given["snippet_catalog.json"]["snippets"] = shown
    assert [one["snippet_id"] for one in examples_of(known_of(given), ["t"], ())] == ["snp_" + "1" * 16]


def test_the_examples_of_a_section_come_before_those_of_the_sections_in_it() -> None:
    def chosen(*shown: dict[str, Any]) -> list[str]:
        given = documents()
        given["snippet_catalog.json"]["snippets"] = list(shown)
        return [one["code"] for one in examples_of(known_of(given), ["a-task"], ())]

    inner = snippet("inner = 1", tags=["part", "a-task"], snippet_id="snp_" + "1" * 16, title="Part")
    own = snippet("own = 1", tags=["a-task"], snippet_id="snp_" + "2" * 16, title="A task")
    bare = own | {"code": "$ own", "language": "text", "introduction": ""}

    assert chosen(inner, own) == ["own = 1", "inner = 1"]
    assert chosen(inner) == ["inner = 1"]
    assert chosen(inner, bare) == []


def test_the_first_steps_are_examples_that_can_be_followed() -> None:
    given = documents()
    readme = {"type": "repo_file", "path": "README.md", "start_line": 1, "end_line": 2, "origin": "readme"}
    given["snippet_catalog.json"]["snippets"] = [
        snippet("return slot.outcome", source=readme, snippet_id="snp_" + "1" * 16),
        snippet("unknown.call()", source=readme | {"path": "docs/other.md", "origin": "docs"}),
        snippet("import tablekit", source=readme, snippet_id="snp_" + "2" * 16),
    ]
    found = first_examples(known_of(given), "python", 4)
    assert [one["code"] for one in found] == ["import tablekit"]


def test_the_announcement_shows_an_example_that_does_not_go_on_from_another_one(tmp_path: Path) -> None:
    given = documents()
    readme = {"type": "repo_file", "path": "README.md", "start_line": 1, "end_line": 2, "origin": "readme"}
    given["snippet_catalog.json"]["snippets"] = [
        snippet("import tablekit\ntable = 1", source=readme, snippet_id="snp_" + "1" * 16),
        snippet("print(table)", source=readme, snippet_id="snp_" + "2" * 16),
        snippet("import tablekit\nprint(2)", source=readme, snippet_id="snp_" + "3" * 16),
    ]
    pages = {page["template"]: page for page in made_plan(tmp_path, configured(tmp_path), given)["pages"]}
    assert pages["announcement"]["required_snippet_ids"] == ["snp_" + "3" * 16]
    given["snippet_catalog.json"]["snippets"].pop()
    pages = {page["template"]: page for page in made_plan(tmp_path, configured(tmp_path), given)["pages"]}
    assert pages["announcement"]["required_snippet_ids"] == ["snp_" + "1" * 16]


def test_no_page_speaks_of_where_an_example_is_or_how_to_install_a_checkout(tmp_path: Path) -> None:
    given = documents()
    for claim in given["product_facts.json"]["claims"][:3]:
        claim["claim_text"] = "The README of tablekit has an example under the heading “Usage”."
    given["product_facts.json"]["claims"][3]["claim_text"] = "Use `pip install '.[postgres]'` for that."
    pages = made_pages(tmp_path, configured(tmp_path), given)[1]
    text = without_marks("".join(pages.values()))
    assert "has an example under" not in text
    assert ".[postgres]" not in text


@pytest.mark.parametrize("told", ["covers adding separating lines", "shows how to add lines"])
def test_that_a_readme_is_about_something_is_nothing_to_say(told: str) -> None:
    given = documents()
    claim = given["product_facts.json"]["claims"][0]
    claim["claim_text"] = f"The README of tablekit {told}."
    assert known_of(given).said([claim["claim_id"]]) == []


def test_a_page_of_what_is_installed_from_a_clone_speaks_of_no_other_way(tmp_path: Path) -> None:
    given = documents()
    facts = given["product_facts.json"]
    facts["distribution"][0] |= {"install_commands": ["pip install ."], "lead": "In a clone:"}
    texts = ("Use `pip install '.[postgres]'` for that.", "Use `pip install 'tablekit[sqlite]'` for this.")
    for claim, text in zip(facts["claims"], texts, strict=False):
        claim["claim_text"] = text
    known = known_of(given)

    assert [one.text for one in known.said(claim["claim_id"] for claim in facts["claims"][:2])] == [texts[0]]
    page = without_marks(made_pages(tmp_path, configured(tmp_path), given)[1]["docs/installation"])
    assert "In a clone:\n\n```shell\npip install .\n" in page


def test_limits_without_a_limit_or_an_error_are_no_page(tmp_path: Path) -> None:
    given = documents()
    facts = given["product_facts.json"]
    facts["claim_groups"]["limitations"] = facts["limitations"] = []
    facts["api_symbols"] = [one for one in facts["api_symbols"] if one["kind"] != "exception"]
    plan, pages = made_pages(tmp_path, configured(tmp_path), given)
    assert "kb/limitations" not in pages
    assert {"kb/faq"} == {page["page_id"] for page in plan["pages"] if page["section"] == "kb"}


def symbol(kind: str, name: str, parent: str = "") -> dict[str, str]:
    full = f"{parent or 'm'}.{name}"
    return {"kind": kind, "name": name, "module": "m", "qualified_name": full, "parent": parent}


def test_names_that_differ_by_case_or_signs_have_headings_of_their_own() -> None:
    given = [symbol("class", "Evil"), symbol("function", "evil"), symbol("function", "EVIL")]
    given += [symbol("constant", "Methods"), symbol("method", "do", "m.Evil"), symbol("function", "evildo")]
    assert list(labels(given).values()) == [
        "`Evil`", "`evil` (function)", "`EVIL` (function 2)", "`Methods` (constant)", "`Evil.do`",
        "`evildo` (function)",
    ]  # fmt: skip


def test_the_links_to_names_that_differ_by_case_lead_to_different_places(tmp_path: Path) -> None:
    given = documents()
    facts = given["product_facts.json"]
    one = next(symbol for symbol in facts["api_symbols"] if symbol["kind"] == "function")
    module, name = one["module"], one["name"].upper()
    facts["api_symbols"].append(one | {"name": name, "qualified_name": f"{module}.{name}", "start_line": 900})
    _, pages = made_pages(tmp_path, configured(tmp_path), given)
    page = without_marks(pages[f"reference/{module.replace('.', '-')}"])
    assert f"[`{one['name']}`](#{one['name']})" in page
    assert f"[`{name}`](#{one['name']}-function)" in page
    assert f"### `{name}` (function)" in page


def test_what_is_said_of_every_topic_is_found_in_one_look() -> None:
    given = documents()
    facts, evidence = given["product_facts.json"], given["evidence_map.json"]
    claim = next(one for one in facts["claims"] if one["claim_kind"] == "feature")
    ids = [f"clm_{number:016x}" for number in range(6_000)]
    facts["claims"] = [claim | {"claim_id": one, "topic": f"Topic {one}"} for one in ids]
    evidence["claims"] = []
    known, begun = known_of(given), process_time()
    assert [topic_claims(known, f"topic {one}") for one in ids] == [[one] for one in ids]
    assert process_time() - begun < 5


def test_the_main_of_very_many_modules_are_found_at_once() -> None:
    modules = [{"module": f"m.n{number}" + ".x" * (number % 7)} for number in range(20_000)]
    begun = process_time()
    assert len(main_modules(modules, 6_000)) == 5_715
    assert process_time() - begun < 5


@pytest.mark.parametrize(
    "words",
    [
        "Let's look at a better way:",
        "As a result, it is short:",
        "Take what we wrote so far:",
        "It also works for lists of rows:",
        "Nothing of the helper is in this public function.",
        "Becomes:",
        "As you saw, the default is a list:",
        "In other words, rows are lists:",
        "…or a callable…",
    ],
)
def test_words_that_lead_through_another_page_do_not_introduce_an_example(words: str) -> None:
    known = known_of(documents())
    assert known.introduction(snippet("x = 1", introduction=words)) == []
    assert known.introduction(snippet("x = 1", introduction="Read a table of rows:")) != []


def test_words_that_name_a_format_of_which_no_claim_speaks_are_left_out() -> None:
    given = documents()
    claim = given["product_facts.json"]["claims"][0]
    said = "The rows are safe to use in DWG."
    assert known_of(given).supported(said, [claim["claim_id"]]) == []
    assert known_of(given).supported(said.replace("DWG", "`DWG`"), [claim["claim_id"]]) != []
    claim["claim_text"] = "Drawings in DWG are written."
    assert [one.text for one in known_of(given).supported(said, [claim["claim_id"]])] == [said]


def test_an_introduction_in_which_the_product_speaks_of_itself_is_said_by_its_name() -> None:
    given = documents()
    given["product_facts.json"]["claims"][0]["claim_text"] = "tablekit provides tables."
    known = known_of(given)
    made = known.introduction(snippet("x = 1", introduction="This module provides tables. This module is new."))
    assert [one.text for one in made] == ["tablekit provides tables.", "This module is new."]


def test_where_examples_are_from_is_said_once_before_the_first() -> None:
    given = documents()
    bare = {
        "introduction": "",
        "title": "",
        "source": {"type": "repo_file", "path": "README.md", "origin": "readme"},
    }
    ids = [f"snp_{number:016x}" for number in range(4)]
    made = [snippet(f"x = {one!r}", **bare | {"snippet_id": one}) for one in ids]
    made[3] |= {"introduction": "Read a table of rows:"}
    given["snippet_catalog.json"]["snippets"] = made
    known = known_of(given)

    def before(*shown: str) -> list[list[str]]:
        return [
            [one.text for block in part if isinstance(block, Paragraph) for one in block.sentences]
            for part in examples(known, shown, 3)
        ]

    assert before(*ids[:3]) == [["These examples are from the README of the project."], [], []]
    assert before(ids[0]) == [["This example is from the README of the project."]]
    assert before(ids[3], *ids[:2]) == [["Read a table of rows:"], [], []]


def test_the_same_said_twice_with_and_without_a_word_of_time_is_said_once() -> None:
    given = documents()
    first, second = given["product_facts.json"]["claims"][:2]
    first["claim_text"] = "It emulates streams on Windows."
    second["claim_text"] = "It now emulates streams on Windows."
    said = known_of(given).said([first["claim_id"], second["claim_id"]])
    assert [one.text for one in said] == ["It emulates streams on Windows."]


def test_the_reference_lists_the_modules_that_offer_names(tmp_path: Path) -> None:
    given = documents()
    symbols = given["product_facts.json"]["api_symbols"]
    module = next(one for one in symbols if one["kind"] == "module")
    symbols.append(module | {"name": "inner", "qualified_name": "tablekit.inner", "module": "tablekit.inner"})
    pages = made_pages(tmp_path, configured(tmp_path), given)[1]

    assert "tablekit.inner" not in pages["reference/index"]
    assert "tablekit.inner" in pages["docs/developer-guide"]


def test_a_module_that_does_not_say_what_it_is_for_is_told_by_its_names(tmp_path: Path) -> None:
    given = documents()
    symbols = given["product_facts.json"]["api_symbols"]
    module = next(one for one in symbols if one["kind"] == "module" and known_of(given).units[one["module"]])
    module["summary"] = module["documentation"] = ""
    page = made_pages(tmp_path, configured(tmp_path), given)[1]["reference/index"]
    row = next(line for line in page.splitlines() if line.startswith(f"| [`{module['module']}`]"))
    units = known_of(given).units[module["module"]]
    assert f"`{units[0].symbol['name']}`" in without_marks(row).split("|")[2]
    assert units[0].symbol["claim_id"] in row


def test_of_the_names_of_a_module_those_that_examples_use_most_are_told(tmp_path: Path) -> None:
    given = documents()
    symbols = given["product_facts.json"]["api_symbols"]
    module = next(one for one in symbols if one["kind"] == "module" and known_of(given).units[one["module"]])
    module["summary"] = module["documentation"] = ""
    first, last = (unit.symbol["name"] for unit in known_of(given).units[module["module"]])
    given["snippet_catalog.json"]["snippets"] = [snippet(f"import tablekit\n{last}()")]
    page = made_pages(tmp_path, configured(tmp_path), given)[1]["reference/index"]
    row = next(line for line in page.splitlines() if line.startswith(f"| [`{module['module']}`]"))
    assert without_marks(row).split("|")[2].strip() == f"`{last}` and `{first}`."


def test_a_method_is_that_of_a_class_only_where_it_is_called_on_it() -> None:
    known = known_of(documents())
    method = next(one for one in known.symbols if one["kind"] == "method" and one["name"].isalpha())
    owner = next(one for one in known.symbols if one["qualified_name"] == method["parent"])
    begin = f"from {owner['module']} import {owner['name']}\n"

    def names(code: str) -> list[str]:
        return [one["name"] for one in mentioned_symbols(known, [snippet(begin + code)])]

    assert names(f"other.{method['name']}(3)") == [owner["name"]]
    assert names(f"one = {owner['name']}(3)\none.{method['name']}(3)") == [owner["name"], method["name"]]
    assert names(f"{owner['name']}(3).{method['name']}(3)") == [owner["name"], method["name"]]
    assert names(f"with {owner['name']}(3) as one:\n    one.{method['name']}(3)") == [
        owner["name"],
        method["name"],
    ]


def test_what_is_called_and_comes_from_nowhere_is_what_the_package_offers() -> None:
    given = documents()
    one = next(one for one in given["product_facts.json"]["api_symbols"] if one["kind"] == "function")
    function = one["name"]
    assert mentioned_symbols(known_of(given), [snippet(f"{function}('x')")]) == []
    one |= {"module": "tablekit", "qualified_name": f"tablekit.{function}"}
    known = known_of(given)
    assert [one["name"] for one in mentioned_symbols(known, [snippet(f"{function}('x')")])] == [function]
    bound = (
        f"def {function}(x): ...\n{function}('x')",
        f"from other import {function}\n{function}('x')",
        function,
    )
    assert [mentioned_symbols(known, [snippet(code)]) for code in bound] == [[], [], []]


@pytest.mark.parametrize("words", ["But this is not:", "Otherwise the above raises an error:"])
def test_what_does_not_work_is_no_example_without_the_words_that_say_so(words: str) -> None:
    given = documents()
    one = given["snippet_catalog.json"]["snippets"][0]
    assert one["snippet_id"] in known_of(given).snippets
    one["introduction"] = words
    assert one["snippet_id"] not in known_of(given).snippets


def test_the_guide_tells_what_modules_offer_where_none_says_what_it_is_for(tmp_path: Path) -> None:
    given = documents()
    symbols = given["product_facts.json"]["api_symbols"]
    for one in symbols:
        one["summary"] = "" if one["kind"] == "module" else one["summary"]
    guide = made_pages(tmp_path, configured(tmp_path), given)[1]["docs/developer-guide"]
    table = guide.split("## Modules")[1].split("\n## ")[0]
    assert "`Table`" in table

    given["product_facts.json"]["api_symbols"] = [one for one in symbols if one["module"] == "tablekit.formats"]
    given["product_facts.json"]["workflows"] = []
    page = next(
        one for one in made_plan(tmp_path / "b", configured(tmp_path), given)["pages"]
        if one["page_id"] == "docs/developer-guide"
    )  # fmt: skip
    assert "modules" not in page["description"]
    assert "tasks" not in page["description"]


def test_a_function_without_a_summary_is_told_by_what_it_returns(tmp_path: Path) -> None:
    given = documents()
    one = next(one for one in given["product_facts.json"]["api_symbols"] if one["kind"] == "function")
    one |= {"summary": "", "returns_description": "The rows that are left."}
    pages = made_pages(tmp_path, configured(tmp_path), given)[1]
    assert "| Returns the rows that are left." in pages["reference/index"]


def test_tasks_on_the_guide_are_told_whole_or_not_at_all(tmp_path: Path) -> None:
    given = documents()
    facts, catalog = given["product_facts.json"], given["snippet_catalog.json"]
    task = facts["workflows"][0]
    shown = snippet("open_table('x')", introduction="Open it:", title="x")
    facts["workflows"] = [
        task | {"workflow_tag": f"task-{number}", "title": f"Task {number}", "snippet_tags": [f"task-{number}"]}
        for number in range(30)
    ]
    catalog["snippets"] += [
        shown
        | {"snippet_id": f"snp_{number + 100:016}", "tags": [f"task-{number}"], "code": f"open_table({number})"}
        for number in range(30)
    ]
    pages = made_pages(tmp_path, configured(tmp_path), given)[1]
    told = pages["docs/developer-guide"].split("## Common tasks")[1].split("\n## ")[0].split("\n### ")[1:]
    assert 2 < len(told) < 12
    assert all("```python" in one for one in told)


def test_the_first_steps_are_none_of_the_entries_of_a_reference_in_the_readme() -> None:
    given = documents()
    begin, source = "import tablekit\n", {"origin": "readme", "path": "README.md"}
    given["snippet_catalog.json"]["snippets"] = [
        snippet(f"{begin}x = {number}", title=title, tags=[title.lower()], snippet_id=f"snp_{number:016}")
        for number, title in enumerate(["Rows", "signal", ".add(task, options?)"])
    ]
    for number, one in enumerate(given["snippet_catalog.json"]["snippets"]):
        one["source"] = one["source"] | source | {"start_line": number + 1, "end_line": number + 2}
    shown = first_examples(known_of(given), "python", 3)
    assert [one["title"] for one in shown] == ["Rows"]


@pytest.mark.parametrize(
    "code", ['import * as z from "tablekit";\nz.read();', "const z = require('tablekit/rows');"]
)
def test_an_example_that_imports_the_product_under_another_name_can_be_followed(code: str) -> None:
    given = documents()
    facts = given["product_facts.json"]
    facts["ecosystem"] = facts.get("ecosystem", {}) | {"language": "typescript"}
    readme = {"type": "repo_file", "path": "README.md", "start_line": 1, "end_line": 2, "origin": "readme"}
    about = {"source": readme, "language": "typescript"}
    given["snippet_catalog.json"]["snippets"] = [
        snippet("known.call();", **about, tags=["api:tablekit.Table"], snippet_id="snp_" + "2" * 16),
        snippet('import * as z from "tablekit-more";', **about, snippet_id="snp_" + "3" * 16),
        snippet(code, **about, tags=["quickstart"], snippet_id="snp_" + "1" * 16),
    ]
    found = first_examples(known_of(given), "typescript", 1)
    assert [one["code"] for one in found] == [code]


def test_a_short_description_is_filled_up_with_one_colon() -> None:
    assert described("The guide: tasks.", "x") == "The guide: tasks, from the documentation of x, with sources."
    assert described("The guide.", "x") == "The guide: from the documentation of x, with sources."
