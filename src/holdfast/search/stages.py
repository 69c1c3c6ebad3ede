"""Long work in its stages: how it is told and stopped, and how many CPU seconds each stage takes."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping

__all__ = ["Progress", "Stages", "Stop", "files_found"]

# (stage, done, total or None when it is not known, detail)
Progress = Callable[[str, int, int | None, str], None]
Stop = Callable[[], bool]


def files_found(progress: Progress) -> Callable[[int], None]:
    """Tells that files are looked for, and how many were found: in a home directory that takes minutes."""

    def tell(found: int) -> None:
        progress("discover", found, None, "looking for files")

    tell(0)
    return tell


class Stages:
    """Sums by stage; and when the work began."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Add what the body takes to a stage."""
        since = time.process_time()
        try:
            yield
        finally:
            self.add_all({stage: time.process_time() - since})

    def add_all(self, costs: Mapping[str, float]) -> None:
        """Add seconds to stages."""
        for stage, seconds in costs.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
