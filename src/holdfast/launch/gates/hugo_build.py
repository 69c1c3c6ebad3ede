"""Gate: Hugo builds the site with the run's pages, for production, without an error.

What it builds stays for the gates that look at the published pages, until the validator removes it.
"""

import json
import re
from collections.abc import Iterator

from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.hugo_running import Build, build, copied, listed, source_folder
from holdfast.launch.gates.view import View

__all__ = ["ADDRESSES", "GATE", "PUBLIC", "check"]

PUBLIC = "public"
"""The folder, below the scratch folder, that holds the built site."""
ADDRESSES = "addresses.json"
"""The file beside it that is there when the build is done: the address of every page, by path."""

_MOST_ERRORS = 50
_NOTHING = Finding(
    "HUGO_NO_LAYOUT",
    "Hugo publishes no page at all: the site has no layouts for pages and no theme that has them.",
    anchor="nothing is published",
    suggested_fix="Give the site a theme, or layouts for pages and lists; then launch on the new commit.",
)


def check(view: View) -> Checked:
    """The site as it will be; where that fails, the site as it was, to know whose fault it is."""
    copy, folder = view.scratch / "site", source_folder(view.artifacts)
    copied(view.site, view.files, copy)
    public = view.scratch / PUBLIC
    built = build(view.hugo, copy, folder, public, view.config, is_trusted=view.is_trusted)
    if built.ok:
        files = sum(1 for path in public.rglob("*.html") if path.is_file())
        notes = [f"pages built: {files}"]
        if view.pages and not files:  # one finding here says more than one for every page
            return Checked([_NOTHING], notes=notes)
        addresses = listed(view.hugo, copy, folder, view.config, is_trusted=view.is_trusted)
        (view.scratch / ADDRESSES).write_text(json.dumps(addresses), encoding="utf-8")
        return Checked(notes=notes)
    before = view.scratch / "site_before"
    was = {path: view.tree.read(path) for path in view.files}
    copied(view.site, was, before)
    earlier = build(
        view.hugo, before, folder, view.scratch / "public_before", view.config, is_trusted=view.is_trusted
    )
    return Checked(list(_findings(view, built, earlier)), notes=built.errors)


def _findings(view: View, built: Build, earlier: Build) -> Iterator[Finding]:
    if not earlier.ok:
        first = earlier.errors[0] if earlier.errors else ""
        yield Finding(
            "HUGO_BUILD_BROKEN_BEFORE",
            f"The site could not be built before the run either: {first}"[:2000],
            *earlier.place(first),
            anchor="broken before",
            suggested_fix="Repair the site itself first.",
        )
    new = [error for error in built.errors if error not in earlier.errors]
    for error in new[:_MOST_ERRORS]:
        path, line = built.place(error)
        is_ours = path in view.files
        yield Finding(
            "HUGO_BUILD_FAILED",
            f"Hugo cannot build the site: {error}"[:2000],
            path if is_ours else "",
            line if is_ours else 0,
            anchor=_without_lines(error),
            files=(path,) if path else (),
            suggested_fix="Correct what Hugo names.",
        )


def _without_lines(error: str) -> str:
    """What an error is about, wherever it has moved to."""
    return re.sub(r":\d+:\d+", "", error)[:1000]


GATE = Gate(
    "hugo_build",
    "hugo_build",
    check,
    everywhere(
        HUGO_BUILD_FAILED="blocker", HUGO_NO_LAYOUT="blocker", HUGO_BUILD_BROKEN_BEFORE="warn error blocker"
    ),
    seconds(300, 420),
    needs=("hugo",),
    uses=("patch_bundle.json",),
)
