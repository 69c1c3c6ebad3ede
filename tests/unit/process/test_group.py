import subprocess
import sys

from holdfast.process.group import end_group

PARENT = "import subprocess, sys; subprocess.Popen(['sleep', '60']); print('ready', flush=True); sys.stdin.read()"


def test_the_whole_group_ends_at_once() -> None:
    command = [sys.executable, "-c", PARENT]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True) as leader:
        assert leader.stdout is not None
        assert leader.stdout.readline() == b"ready\n"
        end_group(leader)
        assert leader.wait(10) == -9
        assert leader.stdout.read() == b""  # the child held the same pipe: it is gone as well


def test_ending_what_has_ended_does_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], start_new_session=True) as leader:
        leader.wait(10)
        end_group(leader)
    assert leader.returncode == 0
