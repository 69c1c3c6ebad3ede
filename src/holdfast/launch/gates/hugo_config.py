"""Gate: the configuration of the site is the known one, and publishes what is planned."""

from collections.abc import Iterator

from holdfast.launch.documents import sha256
from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.view import View

__all__ = ["GATE", "check"]


def check(view: View) -> Checked:
    """Against what was learnt of the site when it was cloned."""
    if not view.config.get("hugo", {}).get("use_config_gate", True):
        return Checked(skipped="switched off by hugo.use_config_gate")
    found = [*_files(view), *_roots(view), *_addresses(view), *_languages(view), *_outputs(view)]
    files = view.artifacts["site_context.json"]["hugo"]["config_files"]
    return Checked(found, notes=[f"{file['path']} {file['sha256']}" for file in files])


def _files(view: View) -> Iterator[Finding]:
    for file in view.artifacts["site_context.json"]["hugo"]["config_files"]:
        path = file["path"]
        content = view.files[path] if path in view.files else view.tree.read(path)
        if content is None or sha256(content) != file["sha256"]:
            yield Finding(
                "HUGO_CONFIG_CHANGED",
                "The configuration of the site is not the one that the pages were planned for.",
                path,
                anchor="fingerprint",
                suggested_fix="Leave the configuration alone, or start a new run.",
            )


def _roots(view: View) -> Iterator[Finding]:
    roots = view.config["site_layout"]["subdomain_roots"]
    enabled = {entry["subdomain"] for entry in view.artifacts["site_context.json"]["hugo"]["build_matrix"]}
    for page in view.artifacts["page_plan.json"]["pages"]:
        root = roots[page["section"]].strip("/")
        if not page["output_path"].startswith(root + "/"):
            yield Finding(
                "PAGE_OUTSIDE_SECTION",
                f"The page belongs to {page['section']}, whose pages are below {root}.",
                page["output_path"],
                anchor=page["page_id"],
                suggested_fix=f"Plan the page below {root}.",
            )
        if page["section"] not in enabled:
            yield Finding(
                "SECTION_NOT_BUILT",
                f"The site does not build the section {page['section']}.",
                page["output_path"],
                anchor=page["page_id"],
                suggested_fix="Enable the section in the site, or leave it out of the run.",
            )


def _addresses(view: View) -> Iterator[Finding]:
    """Two pages with one address: only one of them would be seen."""
    taken = {
        page["url_path"]: page["path"]
        for page in view.artifacts["site_context.json"]["site"]["pages"]
        if view.files.get(page["path"], b"") is not None
    }
    for page in view.artifacts["page_plan.json"]["pages"]:
        other = taken.setdefault(page["url_path"], page["output_path"])
        if other != page["output_path"]:
            yield Finding(
                "URL_COLLISION",
                f"The page would have the address {page['url_path']} of {other}.",
                page["output_path"],
                anchor=page["url_path"],
                files=(page["output_path"], other),
                suggested_fix="Give the page another name.",
            )


def _languages(view: View) -> Iterator[Finding]:
    wanted = view.config.get("locales") or [view.config.get("locale", "")]
    known = {language.lower() for language in view.artifacts["hugo_facts.json"]["languages"]}
    short = {language.partition("-")[0] for language in known}
    for locale in filter(None, wanted):
        if locale.lower() not in known and locale.lower().partition("-")[0] not in short:
            yield Finding(
                "LANGUAGE_NOT_BUILT",
                f"The site has no pages in the language {locale}.",
                anchor=locale,
                suggested_fix="Enable the language in the site, or use one that it has.",
            )


def _outputs(view: View) -> Iterator[Finding]:
    kinds = view.artifacts["hugo_facts.json"]["outputs"].get("page")
    if kinds is not None and "html" not in {kind.lower() for kind in kinds}:
        yield Finding(
            "HTML_NOT_BUILT", "The site does not publish its pages as HTML.", anchor="outputs",
            suggested_fix="Add HTML to the outputs of pages.",
        )  # fmt: skip


GATE = Gate(
    "hugo_config",
    "hugo_config",
    check,
    everywhere(
        HUGO_CONFIG_CHANGED="blocker",
        PAGE_OUTSIDE_SECTION="blocker",
        SECTION_NOT_BUILT="blocker",
        URL_COLLISION="blocker",
        LANGUAGE_NOT_BUILT="blocker",
        HTML_NOT_BUILT="blocker",
    ),
    seconds(10, 20),
    uses=("site_context.json", "hugo_facts.json", "page_plan.json", "patch_bundle.json"),
)
