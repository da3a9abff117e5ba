"""Find the user whose process is at the other end of a loopback connection (Linux).

A DAP client of `--listen` has no token, and debugpy shows the one of its programs in the command lines of their child
processes, so both ask the kernel: other users of the machine can reach its loopback addresses too.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from pathlib import Path

Address = tuple[str, int]

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_ESTABLISHED = "01"
_MAPPED = "0000000000000000FFFF0000"
"""The start of an IPv4 address in the table of a socket for IPv6."""
_NOBODY = -1
"""Stands for the user of a connection that its other end has closed: the kernel no longer knows the user."""


def is_another_user(client: Address, own: Address) -> bool:
    """Whether `client` belongs to another user than this process and root; False if unknown."""
    user = _user_of(client, own)
    return user not in (None, 0, os.getuid())


def _user_of(client: Address, own: Address) -> int | None:
    addresses = [_hexadecimal(client), _hexadecimal(own)]
    is_known = False
    for table in TABLES:
        try:
            rows = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        is_known = True
        for row in rows:
            columns = row.split()
            if [address.removeprefix(_MAPPED) for address in columns[1:3]] == addresses:
                return int(columns[7]) if columns[3] == _ESTABLISHED else _NOBODY
    return _NOBODY if is_known and ipaddress.ip_address(own[0]).is_loopback else None


def _hexadecimal(address: Address) -> str:
    """Return the kernel's form: the address in 32-bit words, last byte first, and the port."""
    host, port = address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    packed = socket.inet_pton(family, host)
    words = (packed[i : i + 4] for i in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, 'little'):08X}" for word in words).removeprefix(_MAPPED) + f":{port:04X}"
