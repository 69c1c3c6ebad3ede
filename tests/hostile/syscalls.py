"""A seccomp filter that reports the system calls with an effect: programs, connections, writes, mapped code.

The filter is built here as plain bytes; `launcher.py` installs it in the process to be watched, and `tracer.py`
reads what it reports. Only Linux has it, on x86-64 and ARM64.
"""

import ctypes
import ctypes.util
import os
import platform
import struct
import sys
from typing import NamedTuple

__all__ = ["SUPPORTED", "SYSCALLS", "Syscall", "install_filter"]


class Syscall(NamedTuple):
    """One system call to report: its kind, which arguments hold directory and path, and when it counts."""

    name: str
    kind: str  # exec, connect, bind, write, map
    directory: int | None = None  # argument with the directory's descriptor
    path: int | None = None  # argument with the address of the path
    flags: int | None = None  # argument with flags of open


_AT = [
    Syscall("openat", "write", 0, 1, 2),
    Syscall("openat2", "write", 0, 1),
    Syscall("unlinkat", "write", 0, 1),
    Syscall("mkdirat", "write", 0, 1),
    Syscall("renameat", "write", 2, 3),
    Syscall("renameat2", "write", 2, 3),
    Syscall("linkat", "write", 2, 3),
    Syscall("symlinkat", "write", 1, 2),
    Syscall("fchmodat", "write", 0, 1),
    Syscall("truncate", "write", None, 0),
    Syscall("execve", "exec", None, 0),
    Syscall("execveat", "exec", 0, 1),
    Syscall("connect", "connect", None, 1),
    Syscall("bind", "bind", None, 1),
    Syscall("sendto", "connect", None, 4),
    Syscall("mmap", "map"),
    Syscall("ptrace", "ptrace"),
    Syscall("process_vm_readv", "ptrace"),
    Syscall("io_uring_setup", "io_uring"),
]
_OLD = [
    Syscall("open", "write", None, 0, 1),
    Syscall("creat", "write", None, 0),
    Syscall("unlink", "write", None, 0),
    Syscall("rmdir", "write", None, 0),
    Syscall("mkdir", "write", None, 0),
    Syscall("rename", "write", None, 1),
    Syscall("link", "write", None, 1),
    Syscall("symlink", "write", None, 1),
    Syscall("chmod", "write", None, 0),
]
_NUMBERS = {
    "x86_64": (
        0xC000003E,
        {
            "openat": 257, "openat2": 437, "unlinkat": 263, "mkdirat": 258, "renameat": 264, "renameat2": 316,
            "linkat": 265, "symlinkat": 266, "fchmodat": 268, "truncate": 76, "execve": 59, "execveat": 322,
            "connect": 42, "bind": 49, "sendto": 44, "mmap": 9, "ptrace": 101, "process_vm_readv": 310,
            "io_uring_setup": 425, "open": 2, "creat": 85, "unlink": 87, "rmdir": 84, "mkdir": 83, "rename": 82,
            "link": 86, "symlink": 88, "chmod": 90,
        },
        317,
    ),
    "aarch64": (
        0xC00000B7,
        {
            "openat": 56, "openat2": 437, "unlinkat": 35, "mkdirat": 34, "renameat": 38, "renameat2": 276,
            "linkat": 37, "symlinkat": 36, "fchmodat": 53, "truncate": 45, "execve": 221, "execveat": 281,
            "connect": 203, "bind": 200, "sendto": 206, "mmap": 222, "ptrace": 117, "process_vm_readv": 270,
            "io_uring_setup": 425,
        },
        277,
    ),
}  # fmt: skip
_ARCHITECTURE, _BY_NAME, _SECCOMP = _NUMBERS.get(platform.machine(), (0, {}, 0))
SUPPORTED = sys.platform == "linux" and bool(_BY_NAME)
SYSCALLS = {_BY_NAME[call.name]: call for call in [*_AT, *_OLD] if call.name in _BY_NAME}

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_PROT_EXEC, _MAP_ANONYMOUS = 4, 0x20
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06


def _argument(index: int) -> bytes:
    """Load the low half of an argument (both machines are little-endian)."""
    return struct.pack("<HBBI", _LOAD, 0, 0, 16 + 8 * index)


def _program() -> bytes:
    """The filter: one block per system call, each of which ends in a verdict."""
    allow, notify = (struct.pack("<HBBI", _RETURN, 0, 0, verdict) for verdict in (_ALLOW, _NOTIFY))
    code = [struct.pack("<HBBI", _LOAD, 0, 0, 4), struct.pack("<HBBI", _EQUAL, 1, 0, _ARCHITECTURE), allow]
    code.append(struct.pack("<HBBI", _LOAD, 0, 0, 0))
    for number, call in SYSCALLS.items():
        block = [notify]
        if call.flags is not None:
            block = [_argument(call.flags), struct.pack("<HBBI", _ANY_BIT, 0, 1, _WRITES), notify, allow]
        elif call.kind == "map":
            block = [
                _argument(2),
                struct.pack("<HBBI", _ANY_BIT, 0, 3, _PROT_EXEC),
                _argument(3),
                struct.pack("<HBBI", _ANY_BIT, 1, 0, _MAP_ANONYMOUS),
                notify,
                allow,
            ]
        elif call.name == "sendto":
            block = [_argument(4), struct.pack("<HBBI", _EQUAL, 1, 0, 0), notify, allow]
        code += [struct.pack("<HBBI", _EQUAL, 0, len(block), number), *block]
    return b"".join([*code, allow])


def install_filter() -> int:
    """Put this process and all that it starts under the filter; the descriptor that reports its system calls."""
    library = ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True)
    code = _program()
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    no_new_privileges, filter_mode, new_listener = 38, 1, 8
    if library.prctl(no_new_privileges, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    library.syscall.restype = ctypes.c_long
    descriptor = int(library.syscall(_SECCOMP, filter_mode, new_listener, header))
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return descriptor
