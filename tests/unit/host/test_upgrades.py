"""New versions are taken up by themselves, tried again where that can help, and nothing ends the following."""

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from holdfast.errors import SessionError, TryAgainError
from holdfast.host import upgrades
from holdfast.host.release_directory import PackedRelease, ReleaseDirectory
from holdfast.host.upgrades import UpgradePlan, follow
from holdfast.host.watching import Watch

BUSY = TryAgainError("another replacement of the worker is under way")
BROKEN = SessionError("it breaks callers")


class Following:
    """A host of which only its answer to a new version is there, and what it was asked and has complained of."""

    def __init__(self, *answers: Exception | None) -> None:
        self.answers = list(answers)  # to the first rollouts; None, and any later one, is a success
        self.asked: list[Sequence[str] | None] = []
        self.complaints: list[str] = []
        self.serving: Sequence[str] = ()  # where it is not what was taken up last
        self.loop: asyncio.AbstractEventLoop | None = None
        self._moved = asyncio.Event()

    async def roll_out(self, command: Sequence[str] | None) -> None:
        self.asked.append(command)
        self._moved.set()
        answer = self.answers.pop(0) if self.answers else None
        if answer is not None:
            raise answer
        self.serving = command or ()

    def complain(self, problem: str) -> None:
        self.complaints.append(problem)
        self._moved.set()

    def was_asked(self, times: int) -> bool:
        return len(self.asked) == times

    def wake(self) -> None:
        """Have what is waited for be looked at again; from any thread."""
        assert self.loop is not None
        self.loop.call_soon_threadsafe(self._moved.set)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for what a rollout or a complaint makes true."""
        async with asyncio.timeout(10):
            while not is_so():
                self._moved.clear()
                await self._moved.wait()

    def during(self, plan: UpgradePlan, story: Callable[[], Awaitable[None]]) -> None:
        """Follow a plan as long as the story lasts, and see that nothing in it has ended the following."""
        asyncio.run(self._during(plan, story))

    async def _during(self, plan: UpgradePlan, story: Callable[[], Awaitable[None]]) -> None:
        self.loop = asyncio.get_running_loop()
        task = asyncio.create_task(follow(plan, self.roll_out, self.complain, lambda: self.serving))
        try:
            await story()
            assert not task.done()
        finally:
            task.cancel()
            await asyncio.wait([task])


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrades, "POLL", 0.005)


@pytest.fixture
def releases(tmp_path: Path) -> ReleaseDirectory:
    return ReleaseDirectory(tmp_path / "releases")


@pytest.fixture
def packed(releases: ReleaseDirectory, tmp_path: Path) -> list[PackedRelease]:
    """Three releases, of which the first one serves."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "server.py").write_text("print()\n")
    made = [releases.pack(tmp_path / "source", ["{release}/server.py", number]) for number in "123"]
    releases.activate(made[0].id)
    return made


def test_every_release_that_is_activated_is_rolled_out_once(
    releases: ReleaseDirectory, packed: list[PackedRelease]
) -> None:
    host = Following()

    async def story() -> None:
        for count, number in enumerate((1, 2, 0), 1):
            releases.activate(packed[number].id)
            await host.until(partial(host.was_asked, count))

    host.during(UpgradePlan(None, releases, packed[0].id), story)

    assert host.asked == [packed[number].command for number in (1, 2, 0)]
    assert host.complaints == []


def test_a_release_that_comes_at_a_bad_moment_is_tried_again_and_told_of_once(
    releases: ReleaseDirectory, packed: list[PackedRelease]
) -> None:
    host = Following(BUSY, BUSY, BUSY)
    releases.activate(packed[1].id)

    host.during(UpgradePlan(None, releases, packed[0].id), lambda: host.until(partial(host.was_asked, 4)))

    assert host.asked == [packed[1].command] * 4
    assert host.complaints == ["the old version stays for now: another replacement of the worker is under way"]


def test_a_change_of_files_that_comes_at_a_bad_moment_is_tried_again(tmp_path: Path) -> None:
    host = Following(BUSY)
    watch = Watch([tmp_path])
    (tmp_path / "server.py").write_text("2")

    host.during(UpgradePlan(watch), lambda: host.until(partial(host.was_asked, 2)))

    assert host.asked == [None, None]


@pytest.mark.parametrize("refusal", [BROKEN, OSError(errno.ENOENT, "No such file")])
def test_a_version_that_is_refused_for_good_is_not_tried_again(
    releases: ReleaseDirectory, packed: list[PackedRelease], refusal: Exception
) -> None:
    host = Following(refusal)
    releases.activate(packed[1].id)

    async def story() -> None:
        await host.until(lambda: len(host.complaints) == 1)
        releases.activate(packed[2].id)
        await host.until(partial(host.was_asked, 2))

    host.during(UpgradePlan(None, releases, packed[0].id), story)

    assert host.asked == [packed[1].command, packed[2].command]
    assert host.complaints == [f"the old version stays: {refusal}"]


def test_a_change_that_is_refused_for_the_same_reason_as_the_one_before_is_told_again(tmp_path: Path) -> None:
    host = Following(BROKEN, BROKEN)
    watch = Watch([tmp_path])
    (tmp_path / "server.py").write_text("2")

    async def story() -> None:
        await host.until(lambda: len(host.complaints) == 1)
        (tmp_path / "server.py").write_text("33")
        await host.until(lambda: len(host.complaints) == 2)

    host.during(UpgradePlan(watch), story)

    assert host.asked == [None, None]


def test_going_back_to_what_serves_rolls_out_nothing_and_a_second_attempt_is_one(
    releases: ReleaseDirectory, packed: list[PackedRelease]
) -> None:
    host = Following(BROKEN)
    releases.activate(packed[1].id)

    async def story() -> None:
        await host.until(lambda: len(host.complaints) == 1)
        with (releases.root / "current.json").open("rb"):  # so that its number is not given to the next one
            releases.activate(packed[0].id)
            releases.activate(packed[1].id)
            await host.until(partial(host.was_asked, 2))

    host.during(UpgradePlan(None, releases, packed[0].id), story)

    assert host.asked == [packed[1].command] * 2


def test_a_release_that_was_rolled_back_is_taken_up_again_when_it_is_activated_again(
    releases: ReleaseDirectory, packed: list[PackedRelease]
) -> None:
    host = Following()
    releases.activate(packed[1].id)

    async def story() -> None:
        await host.until(partial(host.was_asked, 1))
        releases.activate(packed[2].id)
        await host.until(partial(host.was_asked, 2))
        host.serving = packed[1].command  # the host went back by itself
        with (releases.root / "current.json").open("rb"):  # so that its number is not given to the next one
            releases.activate(packed[2].id)
            await host.until(partial(host.was_asked, 3))

    host.during(UpgradePlan(None, releases, packed[0].id), story)

    assert host.asked == [packed[number].command for number in (1, 2, 2)]


def test_a_release_that_is_not_whole_is_told_once_and_the_next_one_is_taken_up(
    releases: ReleaseDirectory, packed: list[PackedRelease]
) -> None:
    host = Following()
    releases.activate(packed[1].id)
    files = releases.root / "releases" / packed[1].id / "files"
    files.chmod(0o755)
    (files / "__pycache__").mkdir()

    async def story() -> None:
        await host.until(lambda: len(host.complaints) == 1)
        releases.activate(packed[2].id)
        await host.until(partial(host.was_asked, 1))

    host.during(UpgradePlan(None, releases, packed[0].id), story)

    assert host.asked == [packed[2].command]
    assert "__pycache__ was added" in host.complaints[0]


def test_a_file_that_cannot_be_read_does_not_end_the_following(
    releases: ReleaseDirectory, packed: list[PackedRelease]
) -> None:
    host = Following()
    releases.activate(packed[1].id)
    place = releases.root / "releases" / packed[1].id
    place.chmod(0o755)
    (place / "manifest.json").unlink()
    (place / "manifest.json").mkdir()  # which even root cannot read as a file

    async def story() -> None:
        await host.until(lambda: len(host.complaints) == 1)
        releases.activate(packed[2].id)
        await host.until(partial(host.was_asked, 1))

    host.during(UpgradePlan(None, releases, packed[0].id), story)

    assert host.asked == [packed[2].command]


def test_a_problem_of_looking_is_told_once_and_the_watch_goes_on_when_it_is_over(
    releases: ReleaseDirectory, packed: list[PackedRelease]
) -> None:
    class Failing(Watch):
        failures = 3

        def find(self) -> bool:
            self.failures -= 1
            if self.failures >= 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return super().find()

    host = Following()
    watch = Failing([releases.root])
    (releases.root / "new").write_text("")

    host.during(UpgradePlan(watch), lambda: host.until(partial(host.was_asked, 1)))

    assert host.complaints == ["the old version stays: [Errno 5] Input/output error"]


class WritingAtItsStart(Following):
    """A host whose server writes into what is watched, at so many of its first starts."""

    def __init__(self, file: Path, times: int) -> None:
        super().__init__()
        self.file = file
        self.left = times

    async def roll_out(self, command: Sequence[str] | None) -> None:
        if self.left:
            self.left -= 1
            self.file.write_text("x" * self.left)
        await super().roll_out(command)


def test_a_server_that_changes_what_is_watched_at_every_start_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrades, "_LONG_PAUSE", 0.01)
    host = WritingAtItsStart(tmp_path / "cache", 9)
    watch = Watch([tmp_path])
    (tmp_path / "server.py").write_text("")

    host.during(UpgradePlan(watch), lambda: host.until(partial(host.was_asked, 10)))

    assert [text.partition(";")[0] for text in host.complaints] == [
        "the watched files changed during each of the last 5 starts of the server"
    ]


def test_many_versions_that_are_saved_one_right_after_the_other_are_taken_up_at_once(tmp_path: Path) -> None:
    class Counting(Watch):
        looks = 0

        def find(self) -> bool:
            found = super().find()
            self.looks += 1
            host.wake()
            return found

        def was_looked_at(self, times: int) -> bool:
            return self.looks > times

    host = Following()
    watch = Counting([tmp_path])

    async def story() -> None:
        for count in range(1, 21):
            (tmp_path / "server.py").write_text("x" * count)
            await host.until(partial(host.was_asked, count))
            await host.until(partial(watch.was_looked_at, watch.looks))  # the start is over; edit for the next one

    host.during(UpgradePlan(watch), story)

    assert host.complaints == []


def test_starts_that_change_what_is_watched_slow_down_step_by_step_until_one_does_not() -> None:
    haste = upgrades._Haste()
    pauses = []
    for number in range(12):
        haste.started(100.0 * number, has_changed=True)
        pauses.append(haste.pause)

    assert pauses == [0, 0, 0, 0, 1, 2, 4, 8, 16, 30, 30, 30]
    assert haste.started(1200.0, has_changed=False) == ""
    assert haste.pause == 0
    again = [haste.started(1300.0 + 100 * number, has_changed=True) for number in range(6)]
    assert [bool(text) for text in again] == [False] * 4 + [True, False]


def test_changes_soon_after_every_start_slow_down_when_no_person_would_go_on_like_that() -> None:
    haste = upgrades._Haste()
    now, told = 0.0, []
    for _ in range(37):
        now += 4.0 + haste.pause
        told.append(haste.started(now, has_changed=False))

    assert [number for number, text in enumerate(told) if text] == [30]
    assert "right after each of the last 30 starts" in told[30]
    assert haste.pause == 30.0
    haste.started(now + 36.0, has_changed=False)
    assert haste.pause == 0
