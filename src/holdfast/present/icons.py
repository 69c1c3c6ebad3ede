"""Icons of a server and of what it offers, and the check that a client may follow their address."""

import base64
import mimetypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import ContractError

__all__ = ["Icon", "checked_icons", "icons_to_wire"]

_ADDRESS = re.compile(r"(https?://|data:)\S+\Z")
_SIZE = re.compile(r"([1-9]\d{0,4}x[1-9]\d{0,4}|any)\Z")


@dataclass(frozen=True, slots=True)
class Icon:
    """One picture: `src` is an https address or a data URI; `sizes` such as "48x48"; `theme` light or dark."""

    src: str
    mime_type: str | None = None
    sizes: tuple[str, ...] = ()
    theme: str | None = None

    def __post_init__(self) -> None:
        if not _ADDRESS.match(str(self.src)):
            raise ContractError(
                f"an icon has the address {str(self.src)[:80]!r}", remedy="use https://... or Icon.from_file(path)"
            )
        given: object = self.sizes
        if isinstance(given, str) or not all(_SIZE.match(str(size)) for size in self.sizes):
            raise ContractError(
                f"an icon has the sizes {self.sizes!r}", remedy='write sizes=("48x48",) or ("any",)'
            )
        if self.theme not in {None, "light", "dark"}:
            raise ContractError(
                f"an icon has the theme {self.theme!r}", remedy="use light or dark, or leave it out"
            )
        object.__setattr__(self, "sizes", tuple(self.sizes))

    @classmethod
    def from_file(cls, path: str | Path, *, sizes: tuple[str, ...] = (), theme: str | None = None) -> "Icon":
        """An icon that is sent along: the file as a data URI."""
        kind = mimetypes.guess_type(str(path))[0] or "image/png"
        data = base64.b64encode(Path(path).read_bytes()).decode()
        return cls(f"data:{kind};base64,{data}", kind, sizes, theme)

    def to_wire(self) -> dict[str, Any]:
        """The icon as it is published."""
        told: dict[str, Any] = {"src": self.src}
        if self.mime_type is not None:
            told["mimeType"] = self.mime_type
        if self.sizes:
            told["sizes"] = list(self.sizes)
        if self.theme is not None:
            told["theme"] = self.theme
        return told


def checked_icons(of: str, icons: Sequence[Icon]) -> tuple[Icon, ...]:
    """The icons that something is declared with, or a refusal."""
    if isinstance(icons, Icon) or not isinstance(icons, (tuple, list)):
        raise ContractError(f"{of}: icons is {icons!r:.80}", remedy="write a tuple: icons=(Icon(...),)")
    if not all(isinstance(icon, Icon) for icon in icons):
        raise ContractError(f"{of}: icons holds something else", remedy="write icons=(Icon(...),)")
    return tuple(icons)


def icons_to_wire(icons: Sequence[Icon]) -> dict[str, Any]:
    """The member `icons` of a definition; nothing where there are none."""
    return {"icons": [icon.to_wire() for icon in icons]} if icons else {}
