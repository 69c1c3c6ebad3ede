"""Nine tiny workers in place of the real ones, and what each is told to do wrong; run as a program, by the engine.

What goes wrong is written in the folder `STAND_IN_ORDERS`: a file `<worker>` or `<worker>-<scope>` has one word
for each attempt, and the last one counts for all that follow.
"""

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch import workers, working
from holdfast.launch.work import Workplace

__all__ = ["ORDERS", "work"]

ORDERS = "STAND_IN_ORDERS"
_BOUND = 50.0
_PAUSE = threading.Event()  # that never comes
_VERSION = {"schema_version": "1.0"}
_PATCH = {"type": "create_file", "path": "content/docs/a.md", "content_hash": "c" * 64, "new_content": "a"}


def work(place: Workplace) -> None:
    """Do what the orders say; then, where they let it, what a worker of this name would."""
    folder = Path(os.environ[ORDERS])
    for name in (f"{place.worker}-{place.scope}", place.worker):
        if (folder / name).is_file():
            words = (folder / name).read_text().split()
            _MISHAPS[words[min(place.attempt, len(words)) - 1]](place, folder)
            break
    _MADE.get(place.worker, _text)(place)


# --- what they make ------------------------------------------------------------------------------------------


def _text(place: Workplace) -> None:
    seen = sorted((name, one.sha256) for name, one in place.given.items())
    place.write_text(f"{place.worker}.{place.scope}.txt", f"{place.worker} saw {seen}\n")


def _plan(place: Workplace) -> None:
    _text(place)
    lists = (
        "required_headings",
        "required_claim_ids",
        "required_snippet_ids",
        "required_snippet_tags",
        "cross_links",
    )
    pages = [
        {
            "page_id": f"{section}/a", "section": section, "slug": "a", "output_path": f"content/{section}/a.md",
            "url_path": "/a/", "title": "a", "purpose": "a", "page_role": "landing", "template": "a", "weight": 1,
            **{name: [] for name in lists},
        }
        for section in place.config["required_sections"]
    ]  # fmt: skip
    place.write("page_plan.json", {**_VERSION, "product_slug": "x", "launch_tier": "minimal", "pages": pages})


def _section(place: Workplace) -> None:
    place.write_text(f"drafts/{place.scope}/a.md", f"# {place.scope}\n")
    manifest = {**_VERSION, "section": place.scope, "drafts": []}
    place.write(f"draft_manifest.{place.scope}.json", manifest, schema="draft_manifest")


def _bundle(place: Workplace, patches: int) -> None:
    made = [{**_PATCH, "patch_id": f"patch_{number:03}"} for number in range(1, patches + 1)]
    place.write("patch_bundle.json", {**_VERSION, "base_ref": "b" * 40, "patches": made})


def _link(place: Workplace) -> None:
    place.tell("PATCH_APPLIED", path=_PATCH["path"])
    _bundle(place, 1)


def _validate(place: Workplace) -> None:
    """Finds as many issues as the configuration says, less one for each patch behind the first.

    Where the configuration says that the first is stubborn, it stays and the others go.
    """
    from holdfast.launch.issues import issue

    mended = max(0, len(place.read("patch_bundle.json")["patches"]) - 1)
    stubborn = [0] if place.config.get("stubborn") else []
    found = [
        issue("markdown_lint", "TRAILING_SPACE", "blocker", "A space.", path=f"content/docs/{number}.md", line=1,
              fix_rule="lint_fix", data={"rule_id": "MD009"})
        for number in [*stubborn, *range(mended + len(stubborn), int(place.config.get("issues", 0)))]
    ]  # fmt: skip
    gates = [{"name": "markdown_lint", "ok": not found, "status": "failed" if found else "passed"}]
    report = {**_VERSION, "ok": not found, "profile": "local", "gates": gates, "issues": found}
    place.write("validation_report.json", report | ({"error_code": "GATE_FAILED"} if found else {}))


def _fix(place: Workplace) -> None:
    issues = place.read("validation_report.json")["issues"]
    open_ones = [one["issue_id"] for one in issues]
    is_stubborn = place.config.get("stubborn") and place.scope == open_ones[0]
    before = len(place.read("patch_bundle.json")["patches"])
    is_mended = place.scope not in open_ones or before > int(place.config["issues"]) - len(open_ones) + 1
    ids = [] if is_mended or is_stubborn else [f"patch_{before + 1:03}"]
    _bundle(place, before + len(ids))
    record = {**_VERSION, "issue_id": place.scope, "gate": "markdown_lint", "rule": "x", "changed": bool(ids)}
    place.write(f"fixes/{place.scope}.json", {**record, "patch_ids": ids, "files": []}, schema="fix_record")


def _open(place: Workplace) -> None:
    request = {
        **_VERSION, "run_id": place.run_id, "base_ref": "b" * 40, "branch_name": "launch/x",
        "commit_shas": ["d" * 40], "pr_url": "file:///x/pulls/1", "pr_title": "x", "pr_body": "",
        "rollback_steps": ["x"], "affected_paths": ["x"],
        "validation_summary": {"ok": True, "profile": "local", "gates_passed": 1, "gates_total": 1},
    }  # fmt: skip
    place.write("pr.json", request)


_MADE: dict[str, Callable[[Workplace], None]] = {
    "ia_planner": _plan, "section_writer": _section, "linker_patcher": _link, "validator": _validate,
    "fixer": _fix, "pr_manager": _open, "tree_keeper": lambda _place: None,
}  # fmt: skip


# --- what goes wrong -----------------------------------------------------------------------------------------


def _refuse(code: str, **more: Any) -> Callable[[Workplace, Path], None]:
    def mishap(_place: Workplace, _folder: Path) -> None:
        raise ToolError(code, "it went wrong", **more)

    return mishap


def _raise(error: Exception) -> Callable[[Workplace, Path], None]:
    def mishap(_place: Workplace, _folder: Path) -> None:
        raise error

    return mishap


def _wait(place: Workplace, folder: Path) -> None:
    """Say that it is here, and wait until it may go on."""
    (folder / f"{place.worker}-{place.scope}.here").write_text(str(os.getpid()))
    end = time.monotonic() + _BOUND
    while not (folder / "go").exists():
        assert time.monotonic() < end
        _PAUSE.wait(0.01)


def _hang(place: Workplace, folder: Path) -> None:
    """Never end, with a child that does not either and is asked in vain."""
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-S", "-c", stubborn])
    (folder / "child").write_text(str(child.pid))
    _wait(place, folder)


def _print(_place: Workplace, _folder: Path) -> None:
    sys.stdout.buffer.write(b"\xff\xfe\0garbage\n" + b"x" * 3_000_000 + b"\n" + b"[" * 5000 + b"\n")
    for line in ("null", "[]", "7", '{"event": 7}', '{"event": "X"}', '{"event": "X", "payload": []}', "{", '"',
                 '{"event": "no such type", "payload": {}}', '{"event": "LATE", "payload": {"x": NaN}}',
                 r'{"event": "HALF", "payload": {"x": "\ud800"}}', '{"progress": "x"}',
                 '{"event": "SECTION_DRAFTED", "payload": {"section": "no such"}}'):  # fmt: skip
        print(line)
    print(json.dumps({"event": "LONG", "payload": {"x": "y" * 9000}}), flush=True)
    sys.stderr.buffer.write(b"\xff" * 500_000)


def _speak(place: Workplace, _folder: Path) -> None:
    place.tell("SPOKEN", text="größer → 文", half="\ud800")
    place.write_text("größer.txt", str(place.config["word"]))


def _forge(place: Workplace, _folder: Path) -> None:
    place.tell("RUN_STATE_CHANGED", **{"from": "INGESTED", "to": "DONE", "reason": ""})
    place.tell("RUN_COMPLETED", reason="")
    place.tell("WORK_ITEM_FINISHED", work_item_id=place.worker, outputs={})
    place.tell("ARTIFACT_WRITTEN", name="pr.json", sha256="e" * 64)
    place.tell("HONEST", number=1)


def _misfit(place: Workplace, _folder: Path) -> None:
    place.write("page_plan.json", {**_VERSION, "pages": "none"})


def _tamper(place: Workplace, _folder: Path) -> None:
    place.write_text("a.txt", "a")
    place.made["a.txt"].path.write_text("b")


def _lose(place: Workplace, _folder: Path) -> None:
    place.write_text("a.txt", "a")
    place.made["a.txt"].path.unlink()


def _unprintable(place: Workplace, _folder: Path) -> None:
    place.write_text("a\nb.txt", "a")


def _many(place: Workplace, _folder: Path) -> None:
    for number in range(2000):
        place.write_text(f"many/{number}.txt", str(number % 10))


def _half(place: Workplace, _folder: Path) -> None:
    (place.out / working.DONE).write_text('{"made": [')
    os._exit(0)


def _mute(place: Workplace, _folder: Path) -> None:
    (place.out / f".{working.DONE}").mkdir()  # as on a disk that takes nothing more


def _show(place: Workplace, folder: Path) -> None:
    (folder / f"seen-by-{place.worker}").write_text(json.dumps([os.getcwd(), str(place.out), dict(os.environ)]))


_DETAILS = {"path": "x", 7: float("nan"), ("a",): object()}
_MISHAPS: dict[str, Callable[[Workplace, Path], None]] = {
    "fine": lambda _place, _folder: None,
    "refuse": _refuse("ALLOWED_PATHS_VIOLATION", details={"path": "x"}, retryable=False),
    "later": _refuse("COMMIT_SERVICE_ERROR", details={"reason": "unreachable"}, retryable=True),
    "limited": _refuse("COMMIT_SERVICE_ERROR", details={"retry_after_s": 1800}, retryable=True),
    "forge-limited": _refuse("COMMIT_SERVICE_ERROR", retryable=True,
                             details={"code": "FORGE_RATE_LIMITED", "retry_after_s": 1800, "retry_at": "noon"}),
    "unchanged": _refuse("ILLEGAL_STATE", details={"reason": "no_changes"}, retryable=False),
    "opened": _refuse("ILLEGAL_STATE", details={"state": "DONE", "pr_url": "https://x"}, retryable=False),
    "busy": _refuse("ILLEGAL_STATE", details={"reason": "busy"}, retryable=False),
    "missing": _refuse("TOOLCHAIN_MISSING", details={"tool": "hugo"}),
    "odd": _refuse("INTERNAL", details=_DETAILS),
    "endless": _refuse("INTERNAL", details={"x": "y" * 1_000_000}),
    "half-a-character": _refuse("INTERNAL", details={"x": "\ud800"}, hint="\udcff"),
    "raise": _raise(ValueError("/secret/path is wrong")),
    "os-error": _raise(PermissionError(errno.EACCES, "no", "/secret/path")),
    "full": _raise(OSError(errno.ENOSPC, "no space", "/secret/path")),
    "kill": lambda _place, _folder: os.kill(os.getpid(), 9),
    "exit": lambda _place, _folder: sys.exit(0),
    "wait": _wait, "hang": _hang, "print": _print, "forge": _forge, "speak": _speak,
    "misfit": _misfit, "tamper": _tamper,
    "lose": _lose, "unprintable": _unprintable, "many": _many, "half": _half, "mute": _mute, "show": _show,
}  # fmt: skip


def main() -> int:
    """What `holdfast.launch.working` does, with these workers."""
    rows = {name: replace(row, module="__main__") for name, row in workers.WORKERS.items()}
    vars(workers)["WORKERS"] = vars(working)["WORKERS"] = rows
    return working.main()


if __name__ == "__main__":
    sys.exit(main())
