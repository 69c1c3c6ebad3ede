"""Settings of the whole suite: property tests have no deadline of their own, and CI draws the same examples.

Builds of an index in a process of the suite share one pool of parsers: starting one takes a second, and indexing a
sample next to nothing.
"""

import gc
import importlib
import os
import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A suite that was started in the background may have these ignored, which every program in it would inherit.
for _signal in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, signal.default_int_handler if _signal is signal.SIGINT else signal.SIG_DFL)

HERE = Path(__file__).parent
UNITS = HERE / "unit"

settings.register_profile("suite", deadline=None, max_examples=40, derandomize=bool(os.environ.get("CI")))
settings.register_profile("thorough", deadline=None, max_examples=1000)  # pytest --hypothesis-profile=thorough
settings.load_profile("suite")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Where several processes collect the same tests, each begins with a share of the modules of its own.

    In a fresh checkout no test module is compiled yet, and that costs more than the rest of collecting. In one and
    the same order every process would compile every module; this way each finds most of them done by the others.
    """
    gc.disable()  # nothing of what is collected is ever let go
    own: dict[str, Any] = getattr(session.config, "workerinput", {})
    if own:
        asked = [Path(argument.partition("::")[0]).resolve() for argument in session.config.args]
        modules = [path for path in sorted(HERE.rglob("test_*.py")) if any(map(path.is_relative_to, asked))]
        for path in modules[int(own["workerid"].removeprefix("gw")) :: own["workercount"]]:
            # Whatever is wrong with a module is told when it is collected.
            with suppress(Exception, pytest.skip.Exception):
                importlib.import_module(".".join(path.relative_to(HERE.parent).with_suffix("").parts))
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a file of units, which are quick and many, go to one process as one piece of work.

    What the file prepares is then prepared once; and whoever hands out the work need not keep thousands of pieces
    apart, which takes time by their square. Slow tests stay pieces of their own, and fill up the end of a run.
    """
    for item in items:
        if item.path.is_relative_to(UNITS) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path.relative_to(UNITS).with_suffix(""))))


def pytest_collection_finish() -> None:
    """Fifteen thousand tests stay where they are: the collector need not look at them again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def warm_parsers() -> Iterator[None]:
    """One pool of parsers for all builds; whoever wants another parser, or two at once, gets a pool of its own."""
    from holdfast.search import build, update
    from holdfast.search.pool import ParsePool

    original, parser, owner, free = build.parser_pool, build.PARSER, os.getpid(), threading.Lock()

    @contextmanager
    def shared(files: int) -> Iterator[Any]:
        is_ours = parser == build.PARSER and os.getpid() == owner
        if is_ours and free.acquire(blocking=False):
            try:
                yield pool
            finally:
                free.release()
        else:
            with original(files) as another:
                yield another

    with ParsePool(1, build.PARSER) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "parser_pool", shared)
        patch.setattr(update, "parser_pool", shared)
        yield
