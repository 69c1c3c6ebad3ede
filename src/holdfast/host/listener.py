"""The address that a server listens on: read as people write it, and bound before anything else is started.

The host binds and never accepts: the socket is inherited by the front, and outlives it.
"""

import errno
import ipaddress
import socket

from holdfast.errors import UsageError

__all__ = ["is_loopback", "listen", "parse_address"]

BACKLOG = 1024
_EXAMPLE = "write HOST:PORT, such as 127.0.0.1:7345 or [::1]:7345; port 0 takes any that is free"
_REASONS = {
    errno.EADDRINUSE: ("something else listens there already", "stop it, or choose another port"),
    errno.EACCES: ("that takes more rights", "choose a port above 1023"),
    errno.EADDRNOTAVAIL: ("this machine has no such address", "choose 127.0.0.1, or an address of this machine"),
}


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`; UsageError where it is none."""
    host, colon, port = text.strip().rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    is_name = bool(host) and (":" not in host or _is_ip(host)) and not any(map(str.isspace, host))
    if not colon or not is_name or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise UsageError(f"{text!r} is not an address to listen on", remedy=_EXAMPLE)
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach the host of that name."""
    if host.lower() == "localhost":
        return True
    return _is_ip(host) and ipaddress.ip_address(host).is_loopback


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; UsageError says why it cannot."""
    shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(place[:2], family=family, backlog=BACKLOG)
    except socket.gaierror as error:
        raise UsageError(f"{host} is not known: {error.strerror}", remedy=_EXAMPLE) from error
    except OSError as error:
        why, remedy = _REASONS.get(error.errno or 0, (error.strerror or str(error), _EXAMPLE))
        raise UsageError(f"cannot listen on {shown}: {why}", remedy=remedy) from error


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
