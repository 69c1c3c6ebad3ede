"""Pull requests on a bare repository: together or not at all, once, and under numbers of their own."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.launch.products import git
from tests.launch.publishing_requests import (
    RUN,
    branches,
    commit_request,
    make_bare_site,
    open_request,
    pull_numbers,
)

from holdfast.git.acting import act
from holdfast.launch.publishing import mirror as mirrors
from holdfast.launch.publishing import stale_locks
from holdfast.launch.publishing.bare_forge import BareForge
from holdfast.launch.publishing.refusal import Refusal
from holdfast.launch.publishing.service import CommitService


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    address, sha = make_bare_site(tmp_path_factory.mktemp("site") / "site.git")
    return Path(address), sha


@pytest.fixture
def site(template: tuple[Path, str], tmp_path: Path) -> tuple[str, str]:
    shutil.copytree(template[0], tmp_path / "site.git")
    return str(tmp_path / "site.git"), template[1]


@pytest.fixture
def service(tmp_path: Path) -> CommitService:
    return CommitService(tmp_path / "service", BareForge())


def published(service: CommitService, site: tuple[str, str], run: str = RUN) -> tuple[str, int]:
    """The commit and the number of the pull request of a run."""
    made = service.commit(commit_request(*site, run=run))
    return made["commit_sha"], service.open_pr(open_request(made, site[0]))["pr_number"]


def test_the_record_of_a_pull_request_tells_everything_about_it(
    service: CommitService, site: tuple[str, str]
) -> None:
    sha, _ = published(service, site)
    (pull,) = service.pulls(site[0])
    assert (pull["number"], pull["state"], pull["commit_sha"], pull["target_branch"]) == (1, "open", sha, "main")
    assert (pull["branch"], pull["base_ref"], pull["draft"]) == (f"launch/{RUN}/tablekit", site[1], False)
    assert (pull["title"], pull["body"]) == ("Launch tablekit", "What a reviewer reads.\n")
    git(Path(site[0]), "update-ref", "refs/heads/main", sha)
    assert [pull["state"] for pull in service.pulls(site[0])] == ["merged"]


def test_records_that_others_wrote_badly_are_left_out(service: CommitService, site: tuple[str, str]) -> None:
    published(service, site)
    git(Path(site[0]), "update-ref", "refs/holdfast/pulls/2", site[1])
    git(Path(site[0]), "update-ref", "refs/holdfast/pulls/x", site[1])
    blob = git(Path(site[0]), "hash-object", "-w", "--stdin", stdin=json.dumps({"branch": 1}).encode())
    tree = git(Path(site[0]), "mktree", stdin=f"100644 blob {blob}\tpull.json\n".encode())
    git(Path(site[0]), "update-ref", "refs/holdfast/pulls/7", git(Path(site[0]), "commit-tree", tree, "-m", "x"))
    assert [pull["number"] for pull in service.pulls(site[0])] == [1]
    assert published(service, site, "r_another_run")[1] == 8


def test_ten_threads_with_one_key_make_one_commit_and_one_pull_request(
    service: CommitService, site: tuple[str, str]
) -> None:
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: published(service, site), range(10)))
    assert len(set(answers)) == 1
    assert pull_numbers(site[0]) == [1]
    assert list(branches(site[0]).values()) == [answers[0][0]]


def test_ten_runs_at_once_have_ten_numbers(service: CommitService, site: tuple[str, str]) -> None:
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda number: published(service, site, f"r_run_{number:04d}"), range(10)))
    assert sorted(number for _, number in answers) == list(range(1, 11))
    assert pull_numbers(site[0]) == list(range(1, 11))
    assert len(branches(site[0])) == 10


def test_services_that_know_nothing_of_each_other_share_the_numbers(site: tuple[str, str], tmp_path: Path) -> None:
    def one(number: int) -> int:
        return published(CommitService(tmp_path / f"s{number}", BareForge()), site, f"r_run_{number:04d}")[1]

    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(one, range(4)))
    assert len(set(numbers)) == 4
    assert pull_numbers(site[0]) == sorted(numbers)


def test_another_machine_that_repeats_a_run_is_given_the_same_pull_request(
    service: CommitService, site: tuple[str, str], tmp_path: Path
) -> None:
    first = published(service, site)
    published(service, site, "r_another_run")
    assert published(CommitService(tmp_path / "elsewhere", BareForge()), site) == first
    git(Path(site[0]), "update-ref", "-d", f"refs/heads/launch/{RUN}/tablekit")  # merged, and tidied up
    assert published(CommitService(tmp_path / "third", BareForge()), site) == first
    assert pull_numbers(site[0]) == [1, 2]


def test_a_branch_of_another_commit_is_not_touched(service: CommitService, site: tuple[str, str]) -> None:
    branch = f"launch/{RUN}/tablekit"
    git(Path(site[0]), "branch", branch, site[1])
    made = service.commit(commit_request(*site))
    with pytest.raises(Refusal) as caught:
        service.open_pr(open_request(made, site[0]))
    assert (caught.value.code, caught.value.status) == ("BRANCH_EXISTS", 409)
    assert (branches(site[0]), pull_numbers(site[0])) == ({branch: site[1]}, [])


REFERENCES = ("refs/heads/launch/" + RUN + "/tablekit", "refs/pull/1/head", "refs/holdfast/pulls/1")


@pytest.mark.parametrize("gone", [(1,), (2,), (1, 2)], ids=str)
def test_a_pull_request_of_which_a_part_is_missing_is_completed(
    service: CommitService, site: tuple[str, str], tmp_path: Path, gone: Sequence[int]
) -> None:
    first = published(service, site)
    for number in gone:
        git(Path(site[0]), "update-ref", "-d", REFERENCES[number])
    assert published(CommitService(tmp_path / "elsewhere", BareForge()), site) == first
    assert pull_numbers(site[0]) == [1]


def test_a_site_that_refuses_the_push_says_why_and_has_nothing(
    service: CommitService, site: tuple[str, str]
) -> None:
    hook = Path(site[0]) / "hooks" / "update"
    hook.write_text('#!/bin/sh\ncase $1 in refs/holdfast/*) echo "no records here" >&2; exit 1;; esac\n', "utf-8")
    hook.chmod(0o755)
    made = service.commit(commit_request(*site))
    with pytest.raises(Refusal) as caught:
        service.open_pr(open_request(made, site[0]))
    assert (caught.value.code, caught.value.status) == ("PUSH_REFUSED", 409)
    assert "no records here" in caught.value.details["said"]
    assert (branches(site[0]), pull_numbers(site[0])) == ({}, [])


def in_a_killed_process(work: Callable[[], Any]) -> None:
    """Run the work in a process that must not live to its end."""
    child = os.fork()
    if child == 0:
        try:
            os.environ["VICTIM"] = str(os.getpid())
            work()
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), status
    assert os.WTERMSIG(status) == signal.SIGKILL


KILLS = ["fetch", "commit-tree", "update-ref", "mktree", "push"]


@pytest.mark.requirement("OURS-31-killed")
@pytest.mark.parametrize("when", [*(f"after {verb}" for verb in KILLS), "before push"])
def test_killed_at_any_step_the_repeat_makes_one_commit_and_one_pull_request(
    service: CommitService, site: tuple[str, str], when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment, verb = when.split(" ")

    def deadly(arguments: Sequence[str], **options: Any) -> bytes:
        if arguments[0] == verb and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = act(arguments, **options)
        if arguments[0] == verb:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(mirrors, "act", deadly)
        in_a_killed_process(lambda: published(service, site))
    sha, number = published(service, site)
    assert (branches(site[0]), pull_numbers(site[0]), number) == ({f"launch/{RUN}/tablekit": sha}, [1], 1)


HOOKS = {
    "before the references are locked": ("pre-receive", "true"),
    "while they are locked": ("reference-transaction", 'test "$1" = prepared'),
    "when they are there": ("reference-transaction", 'test "$1" = committed'),
    "after the push": ("post-receive", "true"),
}


@pytest.mark.parametrize("when", HOOKS)
def test_killed_with_the_other_side_in_the_middle_of_a_push_there_is_one_pull_request(
    service: CommitService, site: tuple[str, str], when: str
) -> None:
    name, condition = HOOKS[when]
    hook = Path(site[0]) / "hooks" / name
    hook.write_text(f"#!/bin/sh\n{condition} || exit 0\nkill -9 $VICTIM\nkill -9 0\n", "utf-8")
    hook.chmod(0o755)
    in_a_killed_process(lambda: published(service, site))
    hook.unlink()
    locks = list(Path(site[0]).rglob("refs/**/*.lock"))
    assert bool(locks) == (when == "while they are locked")
    for lock in locks:
        os.utime(lock, (1, 1))
    sha, number = published(service, site)
    assert (branches(site[0]), pull_numbers(site[0])) == ({f"launch/{RUN}/tablekit": sha}, [number])
    assert not list(Path(site[0]).rglob("refs/heads/**/*.lock"))


def test_a_lock_that_somebody_holds_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stale_locks, "STALE_SECONDS", 0.3)
    lock = tmp_path / "refs" / "heads" / "main.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    begin = time.monotonic()
    assert stale_locks.settle(stale_locks.locks_of(tmp_path, ["refs/heads/main"]))
    assert time.monotonic() - begin >= 0.25
    assert not lock.exists()
    lock.touch()
    assert not stale_locks.settle([lock], stop=lambda: True)


def test_whoever_waits_for_a_busy_mirror_is_told_so_in_the_end(tmp_path: Path) -> None:
    again = mirrors.opened(tmp_path, "/site.git", wait=0.05)
    with mirrors.opened(tmp_path, "/site.git"), pytest.raises(Refusal) as caught:
        again.__enter__()
    assert (caught.value.code, caught.value.status) == ("BUSY", 503)
