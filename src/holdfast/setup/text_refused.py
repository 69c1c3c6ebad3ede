"""Why the text of a client's configuration is not edited; whoever knows its file puts the name in front."""

from holdfast.errors import HoldfastError

__all__ = ["TextRefused"]


class TextRefused(HoldfastError):  # noqa: N818 - it names what happened
    """A text that is broken, or cannot be changed without harm; `reason` goes on where the file's name ends."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy
