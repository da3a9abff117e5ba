"""Poses as a child process of a program, with every key that a command line shows; writes down what it is told.

    poser.py PARENT PORT ...

PARENT is the process id of the program. Needs the standard library alone. One line for each port and key.
"""

import json
import pathlib
import re
import socket
import sys

SECONDS = 3
PID = 999999
KEY = re.compile(r"access[-_]token\W+([0-9a-f]{16,})")


def keys(ports):
    """Every key in a command line that names one of the ports, and none."""
    found = {None}
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = file.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if any(str(port) in text for port in ports):
            found.update(KEY.findall(text))
    return found


def pose(parent, port, key):
    """Answer as pydevd does; return the command and arguments that only a debugged process is to get."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
    file = connection.makefile("rwb")
    bodies = {
        "pydevdAuthorize": {"clientAccessToken": key},
        "pydevdSystemInfo": {"process": {"pid": PID, "ppid": parent}},
    }
    while True:
        size = None
        while (line := file.readline()) != b"\r\n":
            if not line:
                raise EOFError("closed")
            size = int(line.split(b":")[1])
        message = json.loads(file.read(size))
        command = message["command"]
        if command not in bodies:
            return f"{command} {message.get('arguments')}"
        answer = {"seq": 1, "type": "response", "request_seq": message["seq"], "success": True, "command": command}
        body = json.dumps(answer | {"body": bodies[command]}).encode()
        file.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        file.flush()
        print(port, "TOLD", command, flush=True)


parent, *ports = map(int, sys.argv[1:])
for port in ports:
    for key in keys(ports):
        print(port, "TRIED", "with a key" if key else "without a key", flush=True)
        try:
            print(port, "TOLD", pose(parent, port, key), flush=True)
        except (OSError, EOFError) as error:
            print(port, "failed:", type(error).__name__, error, flush=True)
