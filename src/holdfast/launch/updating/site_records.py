"""The records of one product in a site: in the folder of each of its sections, at the commit of the site."""

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.page_paths import locale_of, output_path
from holdfast.launch.updating.record import Records, record_path

__all__ = ["is_of_this_run", "records_of"]


def records_of(config: Mapping[str, Any], hugo: Mapping[str, Any], read: Callable[[str], bytes | None]) -> Records:
    """What earlier runs of the product wrote into the sections of this run."""
    locale = locale_of(config, hugo)
    paths = [record_path(output_path(config, section, "page", locale)) for section in config["required_sections"]]
    return Records({path: _content(read, path) for path in dict.fromkeys(paths)})


def is_of_this_run(path: str, config: Mapping[str, Any], hugo: Mapping[str, Any]) -> bool:
    """Whether a recorded page may be one that this run would have to write again, or else be left over.

    It is in the language of the run (where names of files tell it, folders are shared), and no post: those of
    earlier versions stay as they are.
    """
    layout = config["site_layout"]
    modes = layout["localization"]["mode_by_section"]
    roots = [
        section for section, root in layout["subdomain_roots"].items() if path.startswith(root.rstrip("/") + "/")
    ]
    if "blog" in roots:
        return False
    is_by_name = any(modes.get(section) == "filename" for section in roots)
    return not is_by_name or path.endswith(f".{locale_of(config, hugo)}.md")


def _content(read: Callable[[str], bytes | None], path: str) -> bytes | None:
    try:
        return read(path)
    except ToolError:  # a link, or something huge, is no record of ours
        return None
