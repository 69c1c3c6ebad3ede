"""`holdfast search` over several repositories: each index is brought up to date first, then all are asked."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli.indexing import say, stop_on_interrupt
from holdfast.errors import ToolError

if TYPE_CHECKING:
    from holdfast.cli.progress_bar import ProgressBar
    from holdfast.search.federation.members import Member
    from holdfast.search.index_writer import Stop
    from holdfast.search.request import SearchRequest

__all__ = ["search_several"]


def search_several(request: "SearchRequest", cache: Path, *, build: bool, quiet: bool) -> dict[str, Any] | None:
    """The answer; None when a person has stopped it. ToolError where none of them can be searched."""
    from holdfast.cli.progress_bar import ProgressBar
    from holdfast.search.answering import answer_from_all
    from holdfast.search.federation.members import members_of
    from holdfast.search.served import Served

    served = Served({}, cache)
    try:
        with stop_on_interrupt() as stop:
            members = members_of(served, request, Path.cwd()).listed
            for member in members if build else ():
                with ProgressBar(is_quiet=quiet) as progress:
                    _bring_up_to_date(member, cache, request.backend, progress, stop, quiet=quiet)
            return answer_from_all(served, request, Path.cwd(), stop)
    except (KeyboardInterrupt, ToolError) as error:
        if isinstance(error, ToolError) and error.code != "CANCELLED":
            raise
        say("stopped; every index is as it was, or complete")
        return None
    finally:
        served.release()


def _bring_up_to_date(
    member: "Member", cache: Path, backend: str, progress: "ProgressBar", stop: "Stop", *, quiet: bool
) -> None:
    """Build or update one index; where that fails, the search says what it is like without."""
    from holdfast.search.library import ensure_index

    if member.problem is not None:
        return
    try:
        ensure_index(member.repository, cache, progress=progress, stop=stop, backend=backend).close()
    except ToolError as error:
        if error.code == "CANCELLED":
            raise
        if not quiet:
            say(f"note: {member.name} is not up to date: {error.message}")
