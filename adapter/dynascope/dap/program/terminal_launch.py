"""Runs a program in the client's terminal and tells the adapter how it ended: `in_terminal.py SOCKET COMMAND…`.

The program is then the terminal's child and not the adapter's, so nobody else could. Run by path, with the standard
library only.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys


def main() -> None:
    """Run the command, send its exit code over the socket, and end with the same."""
    path, *command = sys.argv[1:]
    with socket.socket(socket.AF_UNIX) as adapter:
        adapter.connect(path)
        # Ctrl-C reaches us too, and what it means is for the program to say; a handler, unlike SIG_IGN, is not
        # inherited
        signal.signal(signal.SIGINT, lambda number, frame: None)
        try:
            code = subprocess.call(command)
        except OSError as error:
            print(f"dynascope: {command[0]} cannot be started: {error.strerror}", file=sys.stderr)
            code = 127
        code = code if code >= 0 else 128 - code
        adapter.sendall(f"{code}\n".encode())
    sys.exit(code)


if __name__ == "__main__":
    main()
