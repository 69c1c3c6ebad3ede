"""The gates that look at pages and artifacts alone: schema, front matter, tokens, consistency, roles, policy."""

from pathlib import Path
from typing import Any

import pytest
from tests.launch.gate_views import (
    CSV,
    INSTALL_MD,
    LIMIT,
    PLAN_PAGE,
    START,
    artifacts,
    codes,
    found,
    page_text,
    planned,
    view_of,
)  # fmt: skip

from holdfast.launch.claim_marks import mark
from holdfast.launch.gates import (
    consistency,
    distribution,
    frontmatter,
    hugo_config,
    policy,
    rollback,
    schema,
    secrets,
    template_tokens,
    universality,
)  # fmt: skip
from holdfast.launch.gates.gate import Gate
from holdfast.launch.gates.rollback import rollback_problems
from holdfast.launch.gates.table import GATES
from holdfast.launch.gates.view import View
from holdfast.launch.toolchain import required
from holdfast.launch.workers import WORKERS


def plan_of(*pages: dict[str, Any], **more: Any) -> dict[str, Any]:
    plan: dict[str, Any] = artifacts()["page_plan"]
    return plan | {"pages": list(pages)} | more


def quota(least: int, most: int) -> dict[str, Any]:
    strategy = {"primary_focus": "x", "claim_quota": {"min": least, "max": most}, "scenario_coverage": "all"}
    return {"content_strategy": strategy}


def site_of(**hugo: Any) -> dict[str, Any]:
    context: dict[str, Any] = artifacts()["site_context"]
    return context | {"hugo": context["hugo"] | hugo}


@pytest.mark.parametrize("profile", ["local", "ci", "prod"])
@pytest.mark.parametrize(
    "gate",
    [gate for gate in GATES if not gate.needs and gate.name != "external_links"],
    ids=lambda gate: gate.name,
)
def test_a_good_page_passes(gate: Gate, profile: str, tmp_path: Path) -> None:
    assert codes(gate, view_of(page_text(), profile=profile, scratch=tmp_path)) == []


def test_every_gate_has_a_severity_for_each_code_in_each_profile_and_a_time() -> None:
    for gate in GATES:
        assert len({tuple(sorted(gate.severities[profile])) for profile in ("local", "ci", "prod")}) == 1
        assert all(gate.timeout[profile] > 0 for profile in ("local", "ci", "prod"))
    assert len({gate.id for gate in GATES}) == len(GATES)
    for profile in ("local", "ci", "prod"):
        assert sum(gate.timeout[profile] for gate in GATES) < WORKERS["validator"].seconds
        assert {name for gate in GATES for name in gate.needs} == {tool.name for tool in required(profile)}


@pytest.mark.parametrize(
    "text", ["---\ntitle: [x\n---\nbody\n", "---\ntitle: x\nnever closed\n", "+++\ntitle\n+++\n"]
)
def test_front_matter_that_cannot_be_read_can_be_replaced(text: str) -> None:
    (finding,) = found(schema.GATE, view_of(text)).findings

    assert (finding.code, finding.fix_rule) == ("FRONT_MATTER_INVALID", "replace_frontmatter")
    assert finding.data["values"] == {
        "title": "Install TableKit", "draft": False, "description": "How to install TableKit.", "weight": 10,
    }  # fmt: skip
    assert finding.data["format"] == "yaml"


def test_a_page_that_is_no_text_is_a_blocker() -> None:
    view = view_of(page_text())
    view.pages[0].is_text = False

    assert codes(schema.GATE, view) == ["PAGE_NOT_TEXT"]


def test_each_violation_of_an_artifact_is_an_issue() -> None:
    view = view_of(page_text())
    view.broken = {"page_plan.json": ["/pages: missing", "/x: unknown"]}

    assert codes(schema.GATE, view) == ["ARTIFACT_INVALID"] * 2


@pytest.mark.parametrize(
    ("text", "code", "data"),
    [
        (
            "---\ntitle: TableKit\nweight: 1\n---\n",
            "FRONT_MATTER_KEY_MISSING",
            {"key": "description", "value": "How to install TableKit."},
        ),
        (page_text(weight='"10"'), "FRONT_MATTER_TYPE_WRONG", {"key": "weight", "value": 10}),
        (page_text(tags="one"), "FRONT_MATTER_TYPE_WRONG", {"key": "tags"}),
        (
            '+++\ntitle = "T"\ndescription = "d"\nweight = 1\n+++\n',
            "FRONT_MATTER_FORMAT_OTHER",
            {"values": {"title": "T", "description": "d", "weight": 1}, "format": "yaml"},
        ),
    ],
)
def test_front_matter_that_breaks_the_contract_is_found(text: str, code: str, data: dict[str, Any]) -> None:
    (finding,) = found(frontmatter.GATE, view_of(text)).findings

    assert (finding.code, dict(finding.data)) == (code, data)
    assert bool(finding.fix_rule) is ("value" in data or "values" in data)


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        ("Hello __PRODUCT_NAME__!", ["__PRODUCT_NAME__"]),
        ("Hello {{ product }} and {{other}}!", ["{{ product }}", "{{other}}"]),
        ('{{% note %}} {{< ref "a" >}} `__TOKEN__` `{{ x }}` __bold__', []),
        ("```\n__TOKEN__ {{ x }}\n```", []),
        ("__init__ and __A__", ["__A__"]),
    ],
)
def test_tokens_are_found_outside_code(body: str, tokens: list[str]) -> None:
    findings = found(template_tokens.GATE, view_of(page_text(body + "\n"))).findings

    assert [finding.data["token"] for finding in findings] == tokens
    assert all(finding.fix_rule == "remove_template_token" for finding in findings)


def test_a_token_in_the_front_matter_is_found_with_its_line() -> None:
    (finding,) = found(template_tokens.GATE, view_of(page_text(title="__TITLE__"))).findings

    assert (finding.line, finding.data["line_text"]) == (2, "title: __TITLE__")


@pytest.mark.parametrize(
    ("text", "code", "rule"),
    [
        (
            page_text(START.replace("## Install", "## Setup")),
            "REQUIRED_HEADING_MISSING",
            "insert_required_heading",
        ),
        (page_text(START.replace(mark([CSV]), "")), "REQUIRED_CLAIM_MISSING", "insert_required_heading"),
        (page_text(title="Install TABLEKIT"), "PRODUCT_NAME_MISSPELT", "replace_frontmatter"),
        (page_text(repo_url="https://elsewhere.example/x"), "REPO_URL_WRONG", "replace_frontmatter"),
        (page_text(START + "\n[code](https://code.example/fork/tablekit)\n"), "REPO_URL_WRONG", "repair_anchor"),
        (page_text(canonical="https://elsewhere.example/"), "CANONICAL_URL_WRONG", ""),
    ],
)
def test_what_disagrees_with_plan_and_facts_is_found(text: str, code: str, rule: str) -> None:
    config = {"canonical_urls": {"docs": "https://docs.example/tablekit"}}
    (finding,) = found(consistency.GATE, view_of(text, config=config)).findings

    assert (finding.code, finding.fix_rule) == (code, rule)


@pytest.mark.parametrize(
    "title", ["TableKit", "tablekit.io and TableKit", "Install tablekit", "A TableKits story"]
)
def test_names_of_packages_and_modules_are_no_other_spelling(title: str) -> None:
    assert codes(consistency.GATE, view_of(page_text(title=title))) == []


def test_a_page_that_never_names_the_product_is_a_warning() -> None:
    text = page_text("## Install\n", title="x", description="y")
    view = view_of(text, page_plan=plan_of(planned(required_claim_ids=[])))

    assert codes(consistency.GATE, view) == ["PRODUCT_NAME_MISSING"]


def test_a_missing_claim_comes_with_the_line_that_cites_it() -> None:
    text = page_text(START.replace(mark([CSV]), ""))
    (finding,) = found(consistency.GATE, view_of(text)).findings

    assert finding.data == {
        "heading": "Limitations", "level": 2, "after": "",
        "lines": [f"- TableKit reads and writes CSV files. <!-- claim:{CSV} -->"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "target",
    [
        "https://code.example/tablekit/tablekit",
        "https://code.example/tablekit/tablekit/issues",
        "https://code.example/fork/other",
        "/tablekit",
    ],
)
def test_other_links_are_not_taken_for_another_repository(target: str) -> None:
    assert codes(consistency.GATE, view_of(page_text(START + f"\n[x]({target})\n"))) == []


def test_missing_limitations_come_with_their_lines() -> None:
    body = START.partition("## Limitations")[0]
    (finding,) = found(universality.GATE, view_of(page_text(body))).findings

    assert (finding.code, finding.fix_rule, finding.path) == (
        "LIMITATIONS_MISSING",
        "insert_required_heading",
        INSTALL_MD,
    )
    assert finding.data["lines"] == [f"- TableKit does not support nested tables. <!-- claim:{LIMIT} -->"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("```bash\npip install table-kit\n```", [("pip install table-kit", "pip install tablekit")]),
        ("```console\n$ python -m pip install x\n```", [("$ python -m pip install x", "pip install tablekit")]),
        ("Use `pip install wrong`.", [("pip install wrong", "pip install tablekit")]),
        ("```bash\npip install tablekit\n```\n\nUse `pip install tablekit`.", []),
        ("```python\nx = 'pip install other'\n```", []),
        ('Use `pip install "tablekit[excel]"` or `pip install tablekit[excel,fast]`.', []),
        ("Use `pip install tablekit[other]`.", [("pip install tablekit[other]", "pip install tablekit")]),
    ],
)
def test_install_commands_must_be_those_of_the_facts(body: str, expected: list[tuple[str, str]]) -> None:
    text = page_text(START + f"\n{body}\n")
    findings = found(universality.GATE, view_of(text)).findings

    assert [(finding.data["found"], finding.data["expected"]) for finding in findings] == expected


def test_a_section_outside_of_its_quota_is_a_warning() -> None:
    plan = plan_of(PLAN_PAGE, effective_quotas={"docs": {"min": 2, "max": 3, "planned": 1}})

    assert codes(universality.GATE, view_of(page_text(), page_plan=plan)) == ["TIER_QUOTA_MISSED"]


@pytest.mark.parametrize(
    ("change", "body", "expected"),
    [
        ({"page_role": "toc"}, START, ["TOC_HAS_CODE"]),
        ({"forbidden_topics": ["limitations"]}, START, ["FORBIDDEN_TOPIC"]),
        ({}, START + f"\n- TableKit does not support nested tables.{mark([LIMIT])}\n", ["DUPLICATE_CLAIM"]),
        ({}, START + f"\nAnd it is not for nested tables.{mark([LIMIT])}\n", []),
        (quota(3, 5), START, ["CLAIM_QUOTA_MISSED"]),
        (quota(0, 1), START, ["CLAIM_QUOTA_EXCEEDED"]),
    ],
)
def test_a_page_that_leaves_its_role_is_found(change: dict[str, Any], body: str, expected: list[str]) -> None:
    assert codes(distribution.GATE, view_of(page_text(body), page_plan=plan_of(planned(**change)))) == expected


def test_a_planned_page_that_is_not_there_is_found_unless_the_site_had_it() -> None:
    other = planned(page_id="docs/other", output_path="content/docs/tablekit/other.md")
    plan = plan_of(PLAN_PAGE, other)

    assert codes(distribution.GATE, view_of(page_text(), page_plan=plan)) == ["MANDATORY_PAGE_MISSING"]
    assert codes(distribution.GATE, view_of(page_text(), page_plan=plan, before={other["output_path"]: "x"})) == []


def test_conflicts_budgets_and_the_fence_are_blockers() -> None:
    budgets = view_of("").config["budgets"] | {"max_files_changed": 1, "max_lines_per_file": 5}
    view = view_of({INSTALL_MD: page_text(), "layouts/x.html": "x"}, config={"budgets": budgets})
    view.conflicts = [{"patch_id": "patch_001", "path": "a.md", "kind": "file_exists", "message": "it is there"}]

    assert codes(policy.GATE, view) == [
        "ALLOWED_PATHS_VIOLATION", "BUDGET_FILES_EXCEEDED", "BUDGET_LINES_EXCEEDED", "PATCH_CONFLICT",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"page_plan": plan_of(planned(output_path="content/kb/x.md"))}, "PAGE_OUTSIDE_SECTION"),
        (
            {"page_plan": plan_of(PLAN_PAGE, planned(page_id="docs/b", output_path="content/docs/b.md"))},
            "URL_COLLISION",
        ),
        ({"hugo_facts": artifacts()["hugo_facts"] | {"languages": ["de"]}}, "LANGUAGE_NOT_BUILT"),
        ({"hugo_facts": artifacts()["hugo_facts"] | {"outputs": {"page": ["JSON"]}}}, "HTML_NOT_BUILT"),
        ({"site_context": site_of(build_matrix=[])}, "SECTION_NOT_BUILT"),
        (
            {"site_context": site_of(config_files=[{"path": "hugo.toml", "sha256": "0" * 64}])},
            "HUGO_CONFIG_CHANGED",
        ),
    ],
)
def test_a_configuration_that_does_not_publish_the_plan_is_a_blocker(change: dict[str, Any], code: str) -> None:
    assert codes(hugo_config.GATE, view_of(page_text(), **change)) == [code]


def test_the_gate_of_the_configuration_can_be_switched_off() -> None:
    view = view_of(page_text(), config={"hugo": {"use_config_gate": False}})

    assert hugo_config.GATE.check(view).skipped


def test_data_for_a_rollback_is_asked_for_outside_of_local_only() -> None:
    bundle = artifacts()["patch_bundle"] | {"base_ref": "b" * 40}

    assert codes(rollback.GATE, view_of({}, profile="prod", patch_bundle=bundle)) == [
        "ROLLBACK_BASE_UNKNOWN", "ROLLBACK_NOTHING_CHANGED",
    ]  # fmt: skip
    assert rollback.GATE.check(view_of({}, patch_bundle=bundle)).skipped


def test_a_record_of_a_pull_request_must_say_how_to_take_it_back() -> None:
    whole = {
        "base_ref": "a" * 40, "commit_shas": ["b" * 40], "affected_paths": ["x.md"],
        "rollback_steps": ["git revert"], "branch_name": "launch/x", "run_id": "r_1",
    }  # fmt: skip

    assert rollback_problems(whole) == []
    assert all(len(rollback_problems({**whole, key: None})) == 1 for key in whole)
    assert len(rollback_problems({})) == len(whole)


# --- a page that people have edited before the run ---------------------------------------------------------------


def updated(text: str, before: str, **more: Any) -> View:
    """The page of the plan, which was on the site already, and is changed by the run."""
    return view_of({INSTALL_MD: text + "\nSee [the start](/).\n"}, before={INSTALL_MD: before}, **more)


def test_a_heading_or_a_claim_that_people_took_out_is_not_missing_but_one_that_the_run_takes_is() -> None:
    less = page_text(START.replace("## Install", "## Setup"))
    assert codes(consistency.GATE, updated(less, less)) == []
    assert codes(consistency.GATE, updated(less, page_text())) == ["REQUIRED_HEADING_MISSING"]


def test_keys_that_people_removed_or_changed_are_theirs() -> None:
    text = "---\ntitle: Mine\nweight: first\nrepo_url: https://elsewhere.example/x\n---\n\n" + START
    assert codes(frontmatter.GATE, updated(text, text)) == []
    assert codes(consistency.GATE, updated(text, text)) == []
    assert codes(frontmatter.GATE, updated(text, page_text())) == [
        "FRONT_MATTER_KEY_MISSING", "FRONT_MATTER_TYPE_WRONG",
    ]  # fmt: skip
    assert "REPO_URL_WRONG" in codes(consistency.GATE, updated(text, page_text()))


def test_limitations_that_a_page_tells_which_the_run_leaves_alone_are_told() -> None:
    other = planned(
        page_id="docs/other", output_path="content/docs/tablekit/other.md", url_path="/docs/tablekit/other/"
    )
    body = page_text(START.partition("## Limitations")[0])
    view = view_of({INSTALL_MD: body}, before={other["output_path"]: page_text()})
    assert codes(universality.GATE, view) == ["LIMITATIONS_MISSING"]
    view.artifacts["page_plan.json"]["pages"].append(other)
    assert codes(universality.GATE, view) == []


def test_a_page_that_people_made_long_may_be_long_and_not_longer() -> None:
    long = page_text(START + "\n".join(f"Line {number}." for number in range(40)))
    budgets = {"budgets": {"max_files_changed": 9, "max_lines_per_file": 20}}
    shorter = view_of({INSTALL_MD: long.replace("Line 1.\n", "")}, before={INSTALL_MD: long}, config=budgets)
    assert codes(policy.GATE, shorter) == []
    assert codes(policy.GATE, updated(long, long, config=budgets)) == ["BUDGET_LINES_EXCEEDED"]


LIVE = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2


def test_a_secret_on_a_page_is_a_blocker_that_does_not_repeat_it() -> None:
    view = view_of(page_text(f"Use `{LIVE}`.{mark([CSV])}\n"))
    (finding,) = found(secrets.GATE, view).findings

    assert (finding.code, finding.fix_rule, finding.line) == ("SECRET_IN_PAGE", "redact_secret", 7)
    assert finding.data == {"line_text": "Use `ghp_REDACTED`."}
    assert LIVE not in str(finding)


def test_a_redacted_page_passes_and_a_line_that_was_there_before_is_not_judged() -> None:
    assert codes(secrets.GATE, view_of(page_text("Use `ghp_REDACTED` with token=REDACTED.\n"))) == []
    before = page_text(f"Use {LIVE}.\n")
    assert codes(secrets.GATE, view_of(f"{before}\nMore.\n", before={INSTALL_MD: before})) == []


def test_a_secret_in_an_artifact_or_another_file_is_found() -> None:
    view = view_of(page_text())
    view.artifacts["snippet_catalog.json"]["snippets"][0]["code"] = f"token = '{LIVE}'"
    view.files = {**view.files, "content/docs/tablekit/data.json": f'["{LIVE}"]'.encode()}

    findings = found(secrets.GATE, view).findings
    assert [finding.code for finding in findings] == ["SECRET_IN_PAGE", "SECRET_IN_ARTIFACT"]
    assert LIVE not in str(findings)
