"""How long the stages of a build take, in CPU seconds: of this process, and of the parsers."""

import contextlib
import time
from collections.abc import Iterator, Mapping

__all__ = ["Stages"]


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
