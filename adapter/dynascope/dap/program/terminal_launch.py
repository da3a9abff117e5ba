"""Run a program in the client's terminal and send the adapter its exit code: `terminal_launch.py SOCKET COMMAND…`.

The program is then the terminal's child and not the adapter's, so the adapter cannot wait for it. The module is run by
path, and uses the standard library only.
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
        # Ctrl-C reaches this process too, and only the program handles it; the program inherits SIG_IGN, but no handler
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
