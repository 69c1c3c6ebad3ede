"""A new version of a product on a site where people have edited its pages: all of their edits stay."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.launch.human_edits import edited_page, headings, lines_of
from tests.launch.products import commit_all, git
from tests.launch.versions import Versions, pages_of, two_versions

from holdfast.launch.patching.engine import apply_bundle
from holdfast.launch.patching.fence import Fence
from holdfast.launch.patching.making import changes, extended
from holdfast.launch.patching.operations import MOST_BYTES
from holdfast.launch.patching.page_updates import PageUpdates, report_of
from holdfast.launch.patching.tree import BaseTree
from holdfast.launch.updating.page_merge import Merged, merged_page
from holdfast.launch.updating.page_parts import parts_of
from holdfast.launch.updating.record import PageRecord
from holdfast.launch.updating.site_records import records_of

pytestmark = [pytest.mark.xdist_group("launch-updates"), pytest.mark.timeout(240)]

DOCS, KB = "content/docs/tablekit", "content/kb/tablekit"
CASES = 50


def by_hand(site: Path) -> None:
    """What people do to the merged pages of the first version."""
    install = site / DOCS / "installation.md"
    text = install.read_text()
    text = text.replace("weight: 20", "# second in the menu\nweight: 21 # after the news")
    text = text.replace("- tablekit requires Python 3.10", "- We run it on Python 3.10 and say: it requires 3.10")
    section = "## A word of warning\n\nIt supports 7 databases, says somebody, and is fast.\n\n## Next steps"
    install.write_text(text.replace("## Next steps", section))
    (site / DOCS / "reading-a-file.md").unlink()
    faq = site / KB / "faq.md"
    faq.write_text(faq.read_text().replace("draft: false", "draft: false\nfeatured: true"))


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Versions:
    return two_versions(tmp_path_factory.mktemp("versions"), by_hand)


@pytest.fixture(scope="module")
def merged(versions: Versions) -> dict[str, str]:
    """The pages of the pull request of the second version."""
    branch = versions.second.answer["branch"]
    names = git(versions.site, "diff", "--name-only", "HEAD", branch).split("\n")
    return {name: git(versions.site, "show", f"{branch}:{name}") + "\n" for name in names}


def record_of(text: str) -> PageRecord:
    return PageRecord.of(parts_of(text))


def pair(versions: Versions, number: int) -> tuple[str, str, str]:
    """A page of both versions, with its path; those that the new version changes come first."""
    first, second = versions.first.drafts, versions.second.drafts
    both = sorted(set(first) & set(second), key=lambda path: (first[path] == second[path], path))
    changed = [path for path in both if first[path] != second[path]]
    path = (changed * 4 + both)[number % (len(changed) * 4 + len(both))]
    return path, first[path], second[path]


def told(merged: Merged) -> str:
    return "\n".join(f"{kept.yours}\n{kept.new}" for kept in merged.kept)


# --- fifty pages, edited in fifty ways ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(CASES))
def test_every_edit_of_a_person_is_on_the_updated_page_byte_for_byte(versions: Versions, seed: int) -> None:
    _, before, after = pair(versions, seed)
    ours = edited_page(before, seed)
    result = merged_page(record_of(before), ours, after)
    written, now, made = lines_of(before), lines_of(ours), lines_of(result.text)
    assert now - written <= made, "a line of a person is gone"
    for line, count in (written - now).items():  # what people took out does not come back
        assert made[line] <= max(now[line], lines_of(after)[line] - count), line
    kept = [heading for heading in headings(ours) if heading in headings(result.text)]
    if [line for line in headings(ours) if line in headings(before)] != [
        line for line in headings(before) if line in headings(ours)
    ]:
        assert [heading for heading in headings(result.text) if heading in kept] == kept, (
            "another order of sections"
        )
    if "\r\n" in ours:
        assert "\n" not in result.text.replace("\r\n", "")


@pytest.mark.parametrize("seed", range(CASES))
def test_what_nobody_edited_is_as_the_new_version_says_and_the_rest_is_told(versions: Versions, seed: int) -> None:
    _, before, after = pair(versions, seed)
    ours = edited_page(before, seed)
    result = merged_page(record_of(before), ours, after)
    written, now, new, made = (lines_of(text) for text in (before, ours, after, result.text))
    report = lines_of(told(result))
    for line in new - written:
        assert made[line] or line in report, f"the new version says this, and nobody is told: {line}"
    for line in (written - new) & now:
        assert not made[line] or line in report, f"the new version took this away, and nobody is told: {line}"
    assert not made - now - new, "lines that nobody wrote"


@pytest.mark.parametrize("seed", range(CASES))
def test_a_merge_of_its_own_result_changes_nothing_and_patches_lead_to_it(versions: Versions, seed: int) -> None:
    path, before, after = pair(versions, seed)
    ours = edited_page(before, seed)
    result = merged_page(record_of(before), ours, after).text
    assert merged_page(record_of(before), ours, after).text == result
    again = merged_page(record_of(after), result, after)
    assert (again.text, again.kept) == (result, [])
    patches = changes(path, ours.encode(), result.encode())
    assert {patch["type"] for patch in patches}.isdisjoint({"create_file", "delete_file"})
    bundle, _ = extended({"patches": []}, patches)
    applied = apply_bundle(bundle, {path: ours.encode()}.get, Fence([path]))
    assert applied.conflicts == []
    assert applied.files == ({path: result.encode()} if result != ours else {})


def test_a_page_that_nobody_edited_becomes_the_new_version(versions: Versions) -> None:
    for number in range(10):
        _, before, after = pair(versions, number)
        result = merged_page(record_of(before), before, after)
        assert (result.text, result.kept) == (after, [])


# --- the whole way, in two workspaces ----------------------------------------------------------------------------


def test_the_pull_request_has_only_what_changed_and_every_edit_is_in_it(
    versions: Versions, merged: Mapping[str, str]
) -> None:
    install = merged[f"{DOCS}/installation.md"]
    for line in (
        "# second in the menu\nweight: 21 # after the news\n",
        "It supports 7 databases, says somebody, and is fast.\n",
        "- We run it on Python 3.10 and say: it requires 3.10 or newer.",
    ):
        assert line in install
    assert "featured: true\n" in merged[f"{KB}/faq.md"]
    assert "tablekit 1.5.0 is the version described here." in merged[f"{KB}/faq.md"]
    assert f"{DOCS}/choosing-columns.md" in versions.edited
    assert f"{DOCS}/choosing-columns.md" not in merged  # the new version says the same there
    assert f"{DOCS}/reading-a-file.md" not in merged  # people deleted it
    assert not re.search(r"^[<>=]{7}", "".join(merged.values()), re.MULTILINE)


def test_gates_pass_over_text_of_people_that_cites_nothing(versions: Versions) -> None:
    report = versions.second.documents["validation_report.json"]
    assert report["ok"] is True
    assert report["issues"] == []


def test_what_people_kept_is_told_in_the_report_and_in_the_pull_request(versions: Versions) -> None:
    pages = {page["path"]: page for page in versions.second.documents["update_report.json"]["pages"]}
    (kept,) = pages[f"{DOCS}/installation.md"]["kept"]
    assert kept["yours"].startswith("- We run it on Python 3.10")
    assert kept["new"].startswith("- tablekit requires Python 3.11 or newer.")
    (stale,) = pages[f"{DOCS}/installation.md"]["stale_marks"]
    assert stale["text"].startswith("- We run it on Python 3.10")
    assert pages[f"{DOCS}/reading-a-file.md"]["status"] == "deleted_by_people"
    body = versions.second.documents["pr.json"]["pr_body"]
    assert f"+{kept['new']}" in body
    assert f"`{DOCS}/reading-a-file.md`: people deleted it" in body


def test_nothing_links_to_a_page_that_people_deleted(versions: Versions, merged: Mapping[str, str]) -> None:
    assert "reading-a-file" in versions.first.drafts[f"{DOCS}/_index.md"]
    assert "reading-a-file" not in merged[f"{DOCS}/_index.md"]


def test_the_bundle_is_made_of_small_patches_that_know_what_they_change(versions: Versions) -> None:
    patches = versions.second.documents["patch_bundle.json"]["patches"]
    assert {patch["type"] for patch in patches} <= {
        "update_by_anchor", "update_frontmatter_keys", "update_file_range",
    }  # fmt: skip
    assert all("expected_before_hash" in patch for patch in patches)


def test_the_same_version_again_changes_nothing_however_its_pull_request_was_merged(
    versions: Versions, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    subprocess.run(["git", "clone", "--quiet", str(versions.site), str(site)], check=True, timeout=60)
    git(site, "merge", "--quiet", "--squash", f"origin/{versions.second.answer['branch']}")
    install = site / DOCS / "installation.md"
    install.write_text(install.read_text().replace("`colorama>=0.4`", "`colorama`, says the review"))
    tree = BaseTree(site, commit_all(site, "Squashed, after a review"))
    records = records_of(versions.second.config, {"default_language": "en"}, tree.read)
    updates = PageUpdates(records, tree.read, frozenset(), versions.second.config["budgets"])
    for page in versions.second.documents["page_plan.json"]["pages"]:
        assert updates.page(page, versions.second.drafts[page["output_path"]]) is None
    report = report_of(updates)
    assert report["changes"] is False
    assert [page["kept"] for page in report["pages"] if page["kept"]] == []
    assert {path: tree.read(path) for path in records.files()} == records.files()


def test_a_page_that_people_made_huge_and_one_that_they_made_a_folder_of_stop_no_update(tmp_path: Path) -> None:
    def edit(site: Path) -> None:
        docs = site / DOCS
        (docs / "installation").mkdir()
        (docs / "installation.md").rename(docs / "installation/index.md")
        guide = docs / "developer-guide.md"
        guide.write_text(guide.read_text() + "\n" + "A word of theirs.\n" * (MOST_BYTES // 10))

    second = two_versions(tmp_path, edit).second
    pages = {page["path"]: page for page in second.documents["update_report.json"]["pages"]}
    assert pages[f"{DOCS}/installation/index.md"]["status"] == "updated"
    assert f"{DOCS}/installation.md" not in pages
    assert pages[f"{DOCS}/developer-guide.md"]["status"] == "left_alone"
    assert "too large to be updated" in pages[f"{DOCS}/developer-guide.md"]["reason"]
    texts = pages_of(tmp_path / "site", second.answer["commit_sha"])
    assert "colorama" in texts[f"{DOCS}/installation/index.md"]
    assert "../installation/" in texts[f"{DOCS}/getting-started.md"]
