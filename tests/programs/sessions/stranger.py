"""Tries on every port given, knowing no token, to debug what listens there; writes down what it achieved.

    stranger.py PORT ...

Needs the standard library alone. One line for each port and way: PORT WAY RESULT.
"""

import json
import os
import socket
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SECONDS = 5


class Stranger:
    """One connection that speaks DAP."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self.file = self.socket.makefile("rwb")
        self.sequence = 0

    def send(self, **message):
        self.sequence += 1
        body = json.dumps({"seq": self.sequence, **message}).encode()
        self.file.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.file.flush()
        return self.sequence

    def request(self, command, **arguments):
        return self.send(type="request", command=command, arguments=arguments)

    def receive(self):
        size = None
        while (line := self.file.readline()) != b"\r\n":
            if not line:
                raise EOFError("closed")
            size = int(line.split(b":")[1])
        return json.loads(self.file.read(size))

    def wait(self, holds):
        while not holds(message := self.receive()):
            pass
        return message


def attach(port):
    """As an editor that attaches to the program."""
    stranger = Stranger(port)
    stranger.request("initialize", adapterID="python")
    stranger.wait(lambda message: message.get("command") == "initialize")
    stranger.request("attach", justMyCode=True)
    stranger.wait(lambda message: message.get("event") == "initialized")
    stranger.request("configurationDone")
    asked = stranger.request("evaluate", expression="__import__('os').getpid()", context="repl")
    answer = stranger.wait(lambda message: message.get("request_seq") == asked)
    return f"EVALUATED {answer.get('body')}"


def launch(port):
    """As an editor that has a program of its own launched."""
    proof = tempfile.mktemp()
    stranger = Stranger(port)
    stranger.request("initialize", adapterID="python")
    stranger.wait(lambda message: message.get("command") == "initialize")
    stranger.request("launch", code=f"open({proof!r}, 'w')", console="internalConsole")
    stranger.wait(lambda message: message.get("event") == "initialized")
    stranger.request("configurationDone")
    stranger.wait(lambda message: message.get("event") == "terminated")
    return f"LAUNCHED {os.path.exists(proof)}"


def listen(port):
    """As a program that wants to be debugged: waits for what it is told."""
    stranger = Stranger(port)
    message = stranger.receive()
    token = message.get("arguments", {}).get("debugServerAccessToken")
    return f"GOT-TOKEN {token}" if token else f"told {message.get('command')}"


def guess(port):
    """As an adapter of ours, with a token that is wrong."""
    stranger = Stranger(port)
    stranger.file.write(b"DYNASCOPE " + b"0" * 64 + b" agent\n")
    stranger.file.flush()
    answer = stranger.file.readline()
    return f"ACCEPTED {answer}" if answer == b"OK\n" else f"answered {answer}"


def tried(port):
    for way in (attach, launch, listen, guess):
        try:
            result = way(port)
        except (OSError, EOFError, ValueError) as error:
            result = f"failed: {type(error).__name__} {error}"
        sys.stdout.write(f"{port} {way.__name__} {result}\n")


ports = list(map(int, sys.argv[1:]))
with ThreadPoolExecutor(len(ports)) as threads:
    list(threads.map(tried, ports))
