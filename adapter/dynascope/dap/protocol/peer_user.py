"""Find the user whose process is at the other end of a loopback connection (Linux).

A DAP client has no token, so `--listen` asks the kernel instead: a debugger runs code for every client that connects,
and other users of the machine can reach its loopback addresses too.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

Address = tuple[str, int]

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


def is_another_user(client: Address, own: Address) -> bool:
    """Whether `client` belongs to another user than this process and root; False if unknown."""
    user = _user_of(client, own)
    return user not in (None, 0, os.getuid())


def _user_of(client: Address, own: Address) -> int | None:
    addresses = [_hexadecimal(client), _hexadecimal(own)]
    for table in TABLES:
        try:
            rows = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            columns = row.split()
            if columns[1:3] == addresses:
                return int(columns[7])
    return None


def _hexadecimal(address: Address) -> str:
    """Return the kernel's form: the address in 32-bit words, last byte first, and the port."""
    host, port = address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    packed = socket.inet_pton(family, host)
    words = (packed[i : i + 4] for i in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, 'little'):08X}" for word in words) + f":{port:04X}"
