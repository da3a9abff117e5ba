"""What a broken client gets: an answer with the right `request_seq` where the message is readable, else a logged,
clean end.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from dynascope.dap.protocol.connection import BODY_LIMIT, HEADER_LIMIT

from tests.support.dap.client import ADAPTER, DapClient, adapter_environment
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import one_in, program

PLAIN = program("plain.py")
DEADLINE = 60


def framed(message: Any) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def request(seq: Any, command: Any, arguments: Any = None) -> bytes:
    message = {"seq": seq, "type": "request", "command": command}
    return framed(message if arguments is None else message | {"arguments": arguments})


INITIALIZE = request(1, "initialize", {"adapterID": "dynascope"})


def feed(*pieces: bytes) -> tuple[list[dict[str, Any]], str, int]:
    """The adapter's messages, its stderr and its exit code when it is fed these bytes, then the stream's end."""
    process = subprocess.run(
        ADAPTER, input=b"".join(pieces), capture_output=True, timeout=DEADLINE, env=adapter_environment(), check=False
    )
    messages, rest = [], process.stdout
    while rest:
        header, _, rest = rest.partition(b"\r\n\r\n")
        size = int(header.split(b":")[1])
        messages.append(json.loads(rest[:size]))
        rest = rest[size:]
    return messages, process.stderr.decode(), process.returncode


UNREADABLE = {
    "no DAP at all": b"hello world\r\n\r\n",
    "a megabyte without a line end": b"A" * 1_000_000,
    "a header without Content-Length": b"Content-Type: application/json\r\n\r\n{}",
    "Content-Length is a word": b"Content-Length: abc\r\n\r\n",
    "Content-Length is negative": b"Content-Length: -5\r\n\r\n",
    "Content-Length twice": b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "Content-Length of ten terabytes": b"Content-Length: 10995116277760\r\n\r\n{}",
    "Content-Length with a thousand digits": b"Content-Length: " + b"9" * 1000 + b"\r\n\r\n{}",
    "Content-Length just over the limit": b"Content-Length: %d\r\n\r\n{}" % (BODY_LIMIT + 1),
    "a header that never ends": b"X: y\r\n" * HEADER_LIMIT,
    "a header cut off": b"Content-Le",
    "a body cut off": b"Content-Length: 100\r\n\r\n{}",
    "an HTTP request": b"POST / HTTP/1.1\r\nHost: localhost\r\n" + INITIALIZE,
    "not JSON": framed(b"{nope"),
    "not UTF-8": framed(b'{"seq":1,"type":"request","command":"initialize","arguments":{"clientID":"\xff\xfe"}}'),
    "an array": framed([1, 2]),
    "a number": framed(3),
    "NaN": framed(b'{"type":"request","seq":NaN,"command":"initialize"}'),
    "arguments nested too deeply": framed(
        b'{"type":"request","seq":7,"command":"initialize","arguments":' + b'{"a":' * 90_000 + b"1" + b"}" * 90_001
    ),
    "no seq": framed({"type": "request", "command": "initialize"}),
    "seq is a word": request("one", "initialize"),
    "seq is true": request(True, "initialize"),
}


@pytest.mark.parametrize("name", one_in(3, UNREADABLE))
def test_unreadable_input_ends_the_session_with_a_logged_reason(name: str) -> None:
    messages, stderr, code = feed(UNREADABLE[name], INITIALIZE)
    assert messages == []
    assert "cannot be read, so the session ends" in stderr
    assert code == 1


READABLE = {
    "an unknown command": (request(7, "fooBar"), "not supported"),
    "a command that is a number": (request(7, 5), "malformed"),
    "no command": (framed({"seq": 7, "type": "request"}), "no command"),
    "an unknown type": (framed({"seq": 7, "type": "zzz"}), "zzz"),
    "no type": (framed({"seq": 7}), "malformed"),
    "a type that is a number": (framed({"seq": 7, "type": 4}), "malformed"),
    "arguments that are a list": (request(7, "initialize", [1]), "bad arguments"),
    "arguments that are a string": (request(7, "initialize", "x"), "bad arguments"),
    "arguments of the wrong type": (request(7, "initialize", {"linesStartAt1": "yes"}), "linesStartAt1"),
    "lines that start at 0": (request(7, "initialize", {"adapterID": "x", "linesStartAt1": False}), "start at 1"),
    "paths that are URIs": (request(7, "initialize", {"adapterID": "x", "pathFormat": "uri"}), "pathFormat"),
    "seq is a number in a string": (request("7", "initialize"), "malformed"),
    "stackTrace before initialize": (request(7, "stackTrace", {"threadId": 1}), "before initialize"),
    "launch before initialize": (request(7, "launch", {"program": "x"}), "before initialize"),
    "configurationDone before initialize": (request(7, "configurationDone"), "before initialize"),
    "suspendDebuggee": (request(7, "disconnect", {"suspendDebuggee": True}), "suspendDebuggee"),
}


@pytest.mark.parametrize("name", one_in(2, READABLE))
def test_a_readable_mistake_is_answered_and_the_session_goes_on(name: str) -> None:
    data, words = READABLE[name]
    after = request(8, "initialize", {"adapterID": "dynascope"})
    messages, _, code = feed(data, after)
    by_seq = {message["request_seq"]: message for message in messages if message["type"] == "response"}
    assert not by_seq[7]["success"] and words in by_seq[7]["message"]
    assert by_seq[8]["success"]
    assert code == 0


def test_half_an_emoji_is_text_like_any_other() -> None:
    """JavaScript cuts strings between surrogates."""
    asked = framed(
        rb'{"seq":7,"type":"request","command":"evaluate","arguments":{"expression":"\ud83d \\ud83d\ude00"}}'
    )
    messages, _, code = feed(INITIALIZE, asked)
    assert [message["request_seq"] for message in messages if message["type"] == "response"] == [1, 7]
    assert code == 0


LATER = {
    "stackTrace before launch": (request(7, "stackTrace", {"threadId": 1}), "no program"),
    "setBreakpoints before launch": (request(7, "setBreakpoints", {"source": {"path": "/x.py"}}), "no program"),
    "configurationDone before launch": (request(7, "configurationDone"), "no program"),
    "evaluate before launch": (request(7, "evaluate", {"expression": "1"}), "no program"),
    "restart before launch": (request(7, "restart"), "no program"),
    "terminate before launch": (request(7, "terminate"), "no program"),
    "initialize twice": (request(7, "initialize", {"adapterID": "x"}), "before"),
    "launch without a program": (request(7, "launch", {}), "exactly one of"),
    "launch of two programs": (request(7, "launch", {"program": "x", "module": "y"}), "exactly one of"),
    "launch of a program that is a number": (request(7, "launch", {"program": 5}), "program"),
    "a runtime that is a word": (request(7, "launch", {"program": "x", "runtime": "yes"}), "runtime"),
    "a token that is a number": (request(7, "attach", {"connect": {"port": 1}, "token": 5}), "token"),
    "a debugDynamo that is a number": (request(7, "launch", {"program": "x", "debugDynamo": 1}), "debugDynamo"),
    "a record that is null": (request(7, "launch", {"program": "x", "record": None}), "record"),
    "a console that does not exist": (request(7, "launch", {"program": "x", "console": "tty"}), "console"),
    "attach to nothing": (request(7, "attach", {}), "connect"),
    "attach to a port where nobody is": (request(7, "attach", {"connect": {"port": 1}}), "Nothing listens"),
    "a program that does not exist": (request(7, "launch", {"program": "/no/x.py", "runtime": False}), "not exist"),
    "a cwd that does not exist": (request(7, "launch", {"code": "1", "runtime": False, "cwd": "/no"}), "cwd"),
    "a Python that does not exist": (
        request(7, "launch", {"code": "1", "runtime": False, "python": "/no/python"}),
        "python",
    ),
    "a Python that is none": (request(7, "launch", {"code": "1", "runtime": False, "python": "/bin/ls"}), "Python"),
    "a Python that says yes to all": (
        request(7, "launch", {"code": "1", "runtime": False, "python": "/bin/true"}),
        "/bin/true is not a working Python",
    ),
    "with debugpy, a program that does not exist": (request(7, "launch", {"program": "/no/x.py"}), "`program`"),
    "with debugpy, a cwd that does not exist": (request(7, "launch", {"code": "1", "cwd": "/no"}), "`cwd`"),
    "with debugpy, a Python that does not exist": (
        request(7, "launch", {"code": "1", "python": "/no/python"}),
        "/no/python cannot be started",
    ),
    "with debugpy, a Python that says yes to all": (
        request(7, "launch", {"code": "1", "python": "/bin/true"}),
        "/bin/true is not a working Python",
    ),
    "a terminal where there is none": (
        request(7, "launch", {"code": "1", "runtime": False, "console": "integratedTerminal"}),
        "terminal",
    ),
}


@pytest.mark.parametrize("name", one_in(2, LATER))
def test_a_mistake_after_initialize_is_answered(client: DapClient, name: str) -> None:
    data, words = LATER[name]
    wanted = json.loads(data.partition(b"\r\n\r\n")[2])
    client.initialize()
    failed = client.failure_unchecked(wanted["command"], wanted.get("arguments"))
    assert words in failed
    # the adapter is still there, and nothing of the failed start is in the way
    assert "fooBar" in client.failure_unchecked("fooBar", None)
    if wanted["command"] in ("launch", "attach"):
        client.request("launch", {"program": str(PLAIN), "runtime": False, "noDebug": True})
        assert client.wait_for_end() == 3


@WITH_AND_WITHOUT_DEBUGPY
def test_requests_that_may_come_only_once(client: DapClient, runtime: bool) -> None:
    client.initialize()
    configuration = {"program": str(PLAIN), "runtime": runtime, "console": "internalConsole"}
    launched = client.send("launch", configuration)
    client.wait_for_event("initialized")
    assert "already" in client.failure("launch", configuration)
    client.request("configurationDone")
    assert "before" in client.failure("configurationDone")
    launched.body()
    assert client.wait_for_end() == 3


WRONG_TYPES = {
    "stackTrace": {"threadId": "x"},
    "scopes": {"frameId": []},
    "variables": {"variablesReference": "x"},
    "evaluate": {"expression": 5},
    "setBreakpoints": {"source": 5},
    "setFunctionBreakpoints": {},
    "setExceptionBreakpoints": {"filters": "raised"},
    "continue": {},
    "pause": {"threadId": None},
    "setVariable": {"variablesReference": 1},
    "completions": {"text": 5, "column": "x"},
    "restart": {"arguments": 5},
    "disconnect": {"terminateDebuggee": "yes"},
}


def test_wrong_types_in_a_running_session_are_answered(client: DapClient) -> None:
    client.launch({"code": "input()", "runtime": False, "stopOnEntry": False, "console": "internalConsole"})
    for command, arguments in WRONG_TYPES.items():
        assert "bad arguments" in client.failure_unchecked(command, arguments), command


def test_ids_that_nobody_gave_out_are_answered(client: DapClient) -> None:
    client.launch(
        {"program": str(PLAIN), "console": "internalConsole", "stopOnEntry": True},
    )
    stop = client.wait_for_stop()
    for id in (1, 77777, (1 << 30) + 5, (1 << 31) - 1):
        client.send("scopes", {"frameId": id}).response()
        client.send("variables", {"variablesReference": id}).response()
        client.send("evaluate", {"expression": "1", "frameId": id}).response()
    client.send("stackTrace", {"threadId": 12345}).response()
    client.send("completions", {"text": "a", "column": 2, "frameId": 1 << 30}).response()
    stop.resume()
    assert client.wait_for_end() == 3


def test_answers_to_nothing_and_events_from_the_client_are_ignored() -> None:
    noise = framed({"seq": 1, "type": "response", "request_seq": 99, "success": True, "command": "x"})
    noise += framed({"seq": 2, "type": "event", "event": "x"})
    messages, stderr, code = feed(noise, request(3, "initialize", {"adapterID": "x"}))
    assert [message["request_seq"] for message in messages] == [3] and "ignored" in stderr and code == 0
