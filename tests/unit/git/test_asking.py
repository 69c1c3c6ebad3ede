"""Git on real and on hostile repositories: no program of a configuration is run, and git ends when it should."""

import os
import subprocess
from collections.abc import Callable
from itertools import count
from pathlib import Path
from time import monotonic

import pytest
from tests.unit.search.processes import running_git

from holdfast.errors import ToolError
from holdfast.git import asking as git_module
from holdfast.git.asking import Git, GitError, GitStoppedError, GitTimeoutError
from holdfast.search.blame import UNCOMMITTED, BlameCache, chunk_authors
from holdfast.search.discover import discover
from holdfast.search.history import read_history, update_history
from holdfast.search.repository import find_repository

WAITS = ("-c", "alias.wait=!exec tail -f /dev/null", "wait")
# Every setting that makes some git command run what it names; %s is the program.
PROGRAMS = {
    "core.fsmonitor": "%s", "core.pager": "%s", "pager.log": "%s", "pager.blame": "%s", "pager.ls-files": "%s",
    "core.sshCommand": "%s", "core.gitProxy": "%s", "core.askPass": "%s", "core.editor": "%s",
    "core.alternateRefsCommand": "%s", "diff.external": "%s", "diff.spy.command": "%s", "diff.spy.textconv": "%s",
    "diff.spy.cachetextconv": "true", "filter.spy.clean": "%s", "filter.spy.smudge": "%s",
    "filter.a.b C.process": "%s", "filter.a.b C.required": "true", "filter.spy.required": "true",
    "gpg.program": "%s", "log.showSignature": "true", "credential.helper": "!%s", "trailer.x.command": "%s",
    "alias.log": "!%s", "alias.blame": "!%s", "uploadpack.packObjectsHook": "%s", "protocol.allow": "always",
    "protocol.ext.allow": "always", "remote.origin.url": "ext::%s", "remote.origin.promisor": "true",
    "remote.origin.uploadpack": "%s", "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin",
    "core.untrackedCache": "true", "submodule.x.update": "!%s", "merge.spy.driver": "%s",
    "gc.recentObjectsHook": "%s", "interactive.diffFilter": "%s", "sequence.editor": "%s",
}  # fmt: skip
HOOKS = ("post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor-watchman")


@pytest.fixture(autouse=True)
def own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


def run(root: Path, *arguments: str) -> str:
    person = ("-c", "user.name=Ana", "-c", "user.email=ana@example.com")
    done = subprocess.run(["git", *person, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(root: Path, **files: str) -> None:
    for name, content in files.items():
        (root / name).write_text(content)
    run(root, "add", "-A")
    run(root, "commit", "-qm", "change")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    run(root, "init", "-q", "-b", "main", "--template=")
    commit(root, a="one\n")
    return root


class Spy:
    """A program that notes that it ran."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "spy"
        self._notes = folder / "ran"
        self.path.write_text(f'#!/bin/sh\necho "$0 $*" >> {self._notes}\n')
        self.path.chmod(0o755)

    def ran(self) -> list[str]:
        notes = self._notes.read_text().splitlines() if self._notes.exists() else []
        self._notes.unlink(missing_ok=True)
        return notes


@pytest.fixture
def spy(tmp_path: Path) -> Spy:
    return Spy(tmp_path)


@pytest.fixture
def hostile(repo: Path, spy: Spy) -> Path:
    """Two commits, a changed file, a missing object, and a program in every place that could name one."""
    commit(repo, a="one\ntwo\n", b="x\n")
    first = run(repo, "rev-parse", "HEAD~1:a")
    (repo / ".gitattributes").write_text("* filter=spy diff=spy merge=spy\nb filter='a.b C'\n")
    (repo / ".git" / "info").mkdir()
    (repo / ".git" / "info" / "attributes").write_text('* diff=spy\n"b" filter=spy\n')
    (repo / "a").write_text("one\ntwo\nnew\n")
    (repo / "b").write_text("x\nnew\n")
    (repo / ".git" / "objects" / first[:2] / first[2:]).unlink()
    hooks = repo / ".git" / "hooks"
    hooks.mkdir()
    for name in HOOKS:
        (hooks / name).symlink_to(spy.path)
    with (repo / ".git" / "config").open("a") as config:
        for name, value in PROGRAMS.items():
            section, _, rest = name.partition(".")
            subsection, _, key = rest.rpartition(".")
            head = f'[{section} "{subsection}"]' if subsection else f"[{section}]"
            config.write(f'{head}\n{key} = "{value.replace("%s", str(spy.path))}"\n')
    return repo


def authors(root: Path, path: str, stop: Callable[[], bool] = git_module.never) -> tuple[list[list[str]], str]:
    reasons: dict[str, str] = {}
    with BlameCache(root.parent / "blame.db") as cache:
        said = chunk_authors(root, path, [(1, 1), (2, 2)], cache=cache, stop=stop, reasons=reasons)
    return said, reasons.get(path, "")


def after(calls: int) -> Callable[[], bool]:
    """A `stop` that says so from its n-th call on: with git hanging, it must be asked again and again."""
    counter = count()
    return lambda: next(counter) >= calls


# Programs of a configuration


def test_the_planted_programs_do_run_for_somebody_who_does_not_switch_them_off(hostile: Path, spy: Spy) -> None:
    for command in (["blame", "--", "a"], ["log", "-p"], ["ls-files", "--others"], ["cat-file", "-p", "HEAD~1:a"]):
        subprocess.run(["git", *command], cwd=hostile, capture_output=True, check=False)

    assert len(spy.ran()) >= 3


def test_discovery_runs_no_program_of_a_repository(hostile: Path, spy: Spy) -> None:
    found = discover(find_repository(hostile))

    assert spy.ran() == []
    assert [file.path for file in found.files] == [".gitattributes", "a", "b"]
    assert found.remarks == []


def test_a_history_runs_no_program_of_a_repository(hostile: Path, spy: Spy) -> None:
    history = read_history(hostile)
    update_history(read_history(hostile, limit=1), hostile)

    assert spy.ran() == []
    assert {path: known.last_author for path, known in history.files.items()} == {"a": "Ana", "b": "Ana"}


def test_an_update_of_a_history_runs_no_program_of_a_repository(hostile: Path, spy: Spy) -> None:
    old = read_history(hostile)
    tree = run(hostile, "-c", "core.fsmonitor=false", "rev-parse", "HEAD^{tree}")
    new = run(hostile, "commit-tree", "-p", "HEAD", "-m", "next", tree)
    (hostile / ".git" / "refs" / "heads" / "main").write_text(f"{new}\n")
    spy.ran()

    assert update_history(old, hostile).head == new
    assert spy.ran() == []


def test_asking_for_authors_runs_no_program_of_a_repository(hostile: Path, spy: Spy) -> None:
    said = authors(hostile, "b")
    missing = authors(hostile, "a")

    assert spy.ran() == []
    assert said == ([["Ana"], [UNCOMMITTED]], "")
    assert missing[0] == []
    assert missing[1].startswith("git: ")


@pytest.mark.parametrize("place", ["include.path", "includeIf.gitdir:**.path", "config.worktree"])
def test_a_filter_of_an_included_configuration_is_not_run_either(repo: Path, spy: Spy, place: str) -> None:
    (repo / ".gitattributes").write_text("* filter=spy\n")
    (repo / "a").write_text("one\nnew\n")
    more = repo / ".git" / ("config.worktree" if place == "config.worktree" else "more")
    more.write_text(f'[filter "spy"]\nclean = {spy.path}\nrequired = true\n')
    run(repo, "config", *(("extensions.worktreeConfig", "true") if more.name != "more" else (place, "more")))
    run(repo, "blame", "a")
    assert spy.ran()

    assert authors(repo, "a") == ([["Ana"], [UNCOMMITTED]], "")
    assert spy.ran() == []


def test_a_filter_of_any_other_name_is_not_run(repo: Path, spy: Spy) -> None:
    names = ["", "a.b.C", 'q"uote', "back\\slash", "é", "-x", "a#b", "'", "%s", "$HOME", "a;b", "clean", "X" * 300]
    files = {f"file{number}": name for number, name in enumerate(names)}
    commit(repo, **dict.fromkeys(files, "one\n"))
    with (repo / ".git" / "config").open("a") as config:
        for number, name in enumerate(names):
            quoted = name.replace("\\", "\\\\").replace('"', '\\"')
            program = "cLeAn" if number % 2 else "process"
            config.write(f'[FILTER "{quoted}"]\n{program} = {spy.path}\nrequired = true\n')
    attributes = "".join(f"{file} filter={name}\n" for file, name in files.items())
    (repo / ".gitattributes").write_text(attributes)
    for file in files:
        (repo / file).write_text("one\nnew\n")

    assert [authors(repo, file) for file in files] == [([["Ana"], [UNCOMMITTED]], "")] * len(files)
    assert spy.ran() == []


def test_a_filter_whose_name_cannot_be_switched_off_means_that_git_is_not_asked(repo: Path, spy: Spy) -> None:
    (repo / ".gitattributes").write_text("* filter=a=b\n")
    (repo / "a").write_text("one\nnew\n")
    with (repo / ".git" / "config").open("a") as config:
        config.write(f'[filter "a=b"]\nclean = {spy.path}\n')

    said, reason = authors(repo, "a")

    assert (said, spy.ran()) == ([], [])
    assert "cannot be switched off" in reason


def test_a_partial_clone_fetches_nothing_even_where_git_knows_no_switch_for_that(
    hostile: Path, spy: Spy, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = git_module._environment

    def older(root: str) -> dict[str, str]:
        return {name: value for name, value in real(root).items() if name != "GIT_NO_LAZY_FETCH"}

    monkeypatch.setattr(git_module, "_environment", older)
    read_history(hostile)

    assert authors(hostile, "a")[0] == []
    assert spy.ran() == []


def test_a_variable_that_hides_the_configuration_does_not_hide_its_filters(
    hostile: Path, spy: Spy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG", os.devnull)

    authors(hostile, "b")

    assert spy.ran() == []


# Where git looks


def test_a_broken_repository_is_not_answered_for_by_the_one_around_it(repo: Path) -> None:
    inner = repo / "inner"
    (inner / ".git").mkdir(parents=True)
    (inner / "a").write_text("x\n")

    with pytest.raises(GitError, match="not a git repository"):
        Git(inner).whole("rev-parse", "--git-dir")
    assert "not a git repository" in read_history(inner).remarks[0]
    assert "not a git repository" in authors(inner, "a")[1]


@pytest.mark.parametrize(
    "setting",
    ["mailmap.file", "diff.orderFile", "blame.ignoreRevsFile", "core.attributesFile", "core.excludesFile"],
)
def test_a_file_without_an_end_is_not_read_because_of_a_setting(repo: Path, setting: str) -> None:
    run(repo, "config", setting, "/dev/zero")

    assert discover(find_repository(repo)).remarks == []
    assert read_history(repo).files["a"].last_author == "Ana"
    assert authors(repo, "a") == ([["Ana"], []], "")


def test_a_pipe_that_a_setting_names_is_not_waited_for(repo: Path) -> None:
    os.mkfifo(repo / ".git" / "rules")
    run(repo, "config", "core.excludesFile", ".git/rules")

    deadline = monotonic() + 20  # far less than git itself may take
    found = discover(find_repository(repo), stop=lambda: monotonic() > deadline)
    assert ([file.path for file in found.files], found.remarks) == (["a"], [])


def test_rules_of_the_user_still_count(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("*.log\n")
    (repo / "b.log").write_text("b")
    run(repo, "config", "core.excludesFile", str(tmp_path / "rules"))
    assert [file.path for file in discover(find_repository(repo)).files] == ["a"]


@pytest.mark.parametrize("name", [".mailmap", ".gitignore", ".gitattributes", ".git/info/exclude"])
def test_a_pipe_in_the_place_of_rules_is_refused_before_git_waits_for_it(repo: Path, name: str) -> None:
    (repo / name).parent.mkdir(exist_ok=True)
    (repo / name).unlink(missing_ok=True)
    os.mkfifo(repo / name)

    assert read_history(repo).remarks == [f"git: its {name} is no file that could be read"]
    assert name in discover(find_repository(repo)).remarks[0]
    assert name in authors(repo, "a")[1]


def test_a_pipe_in_the_place_of_rules_of_a_directory_is_found_once_git_is_silent(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_module, "_SILENCE", 0.1)
    (repo / "sub" / "deep").mkdir(parents=True)
    os.mkfifo(repo / "sub" / "deep" / ".gitignore")

    with pytest.raises(GitError, match=r"its sub/deep/\.gitignore is no file that could be read"):
        Git(repo, deadline=monotonic() + 10).whole("ls-files", "--others", "--exclude-standard")
    assert "sub/deep/.gitignore" in discover(find_repository(repo)).remarks[0]


# Ends


@pytest.fixture
def hanging(repo: Path) -> Path:
    """Git waits for the other end of a pipe as soon as it reads its configuration."""
    os.mkfifo(repo / ".git" / "pipe")
    run(repo, "config", "include.path", "pipe")
    return repo


def test_a_reading_that_is_left_early_ends_git(repo: Path) -> None:
    commit(repo, big="line\n" * 200_000)
    with Git(repo).start("show", "HEAD") as output:
        next(output.pieces())
        assert len(running_git()) == 1

    assert running_git() == []


def test_git_that_says_nothing_is_ended_when_its_time_is_over(repo: Path) -> None:
    with pytest.raises(GitTimeoutError, match="out of time"):
        Git(repo).whole(*WAITS, seconds=0.1)
    assert running_git() == []


def test_what_git_started_ends_with_it(repo: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with Git(repo).start("-c", f"alias.wait=!exec 9>{pipe}; tail -f /dev/null & echo; wait", "wait") as output:
        next(output.pieces())

    os.set_blocking(reader, True)
    assert os.read(reader, 1) == b""  # comes when nobody is left who could write
    os.close(reader)


def test_git_that_closes_its_output_and_goes_on_is_still_stopped(repo: Path) -> None:
    silent = "alias.wait=!exec >/dev/null 2>&1; exec tail -f /dev/null"

    with pytest.raises(GitStoppedError, match="stopped"):
        Git(repo, stop=after(9)).whole("-c", silent, "wait")
    assert running_git() == []


def test_a_deadline_is_for_everything_that_is_asked(repo: Path) -> None:
    git = Git(repo, deadline=0.0)

    with pytest.raises(GitTimeoutError):
        git.check()
    with pytest.raises(GitTimeoutError):
        git.start("rev-parse", "HEAD")
    assert running_git() == []


def test_a_stop_is_heard_while_git_hangs_for_a_history(hanging: Path) -> None:
    assert read_history(hanging, stop=after(5)).remarks == ["git: stopped"]
    assert running_git() == []


def test_a_stop_is_heard_while_git_hangs_for_authors(hanging: Path) -> None:
    assert authors(hanging, "a", stop=after(5)) == ([], "git: stopped")
    assert running_git() == []


def test_a_stop_is_heard_while_git_waits_for_a_pipe_during_discovery(repo: Path) -> None:
    (repo / "deep").mkdir()
    os.mkfifo(repo / "deep" / ".gitignore")

    with pytest.raises(ToolError, match="indexing was stopped; the old index is untouched") as error:
        discover(find_repository(repo), stop=after(9))
    assert error.value.code == "CANCELLED"
    assert running_git() == []


def test_a_stop_at_any_time_ends_a_discovery(repo: Path) -> None:
    for number in range(50):
        (repo / f"d{number % 7}").mkdir(exist_ok=True)
        (repo / f"d{number % 7}" / f"{number}.py").touch()

    for calls in range(0, 50, 9):
        with pytest.raises(ToolError, match="indexing was stopped"):
            discover(find_repository(repo), stop=after(calls))
    assert running_git() == []


def test_a_stop_is_heard_within_a_directory_of_many_files(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number}.py").touch()
    told: list[int] = []

    with pytest.raises(ToolError):
        discover(find_repository(tmp_path), on_progress=told.append, stop=after(75))
    assert told == []


def test_a_failure_of_git_is_told_in_its_own_words(repo: Path) -> None:
    with pytest.raises(GitError, match="unknown revision"):
        Git(repo).whole("log", "nothing-like-this")


def test_a_nul_in_a_path_is_a_failure_of_git(repo: Path) -> None:
    with pytest.raises(GitError, match="cannot be started"):
        Git(repo).whole("log", "--", "a\0b")


# Sizes


def test_an_output_and_a_field_have_a_largest_size(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repo, big="x" * 300_000)
    monkeypatch.setattr(git_module, "_LARGEST_WHOLE", 100_000)
    monkeypatch.setattr(git_module, "_LARGEST_FIELD", 100_000)

    with pytest.raises(GitError, match="more than 100000 bytes"):
        Git(repo).whole("show", "HEAD:big")
    with Git(repo).start("show", "HEAD:big") as output, pytest.raises(GitError, match="more than 100000 bytes"):
        list(output.fields())


def test_fields_come_whole_wherever_the_pieces_end(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repo, many="".join(f"{number}\n" for number in range(5000)))
    monkeypatch.setattr(git_module, "_PIECE", 7)

    with Git(repo).start("show", "HEAD:many") as output:
        assert list(output.fields(b"\n")) == [b"%d" % number for number in range(5000)]
