"""Run a shell, or forward a port of this machine to another of it, as the arguments of `ssh` or `kubectl` say."""

from __future__ import annotations

import os
import socket
import sys
import threading

from dynascope.wire.token_server import copy


def main(arguments: list[str]) -> None:
    if arguments[-1].endswith("sh -s") or arguments[-2:] == ["sh", "-s"]:
        os.execvp("sh", ["sh", "-s"])
    if "-L" in arguments:
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()  # as `cat` there
        _, local, _, remote = arguments[arguments.index("-L") + 1].split(":")
    elif "port-forward" in arguments:
        local, remote = arguments[-1].split(":")
    else:
        sys.exit(f"stand-in: what is {arguments}?")
    with socket.create_server(("127.0.0.1", int(local))) as server:
        while True:
            near, _ = server.accept()
            far = socket.create_connection(("127.0.0.1", int(remote)))
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=copy, args=(source, target), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1:])
