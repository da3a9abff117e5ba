"""`dynascope dap --listen`: one client, on loopback, and no HTTP."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Iterator

import pytest
from dynascope.wire.peer_user import is_another_user

from tests.support.dap.client import ADAPTER, DapClient, adapter_environment
from tests.support.marks import program


@contextlib.contextmanager
def listening(address: str = "127.0.0.1:0") -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    process = subprocess.Popen(
        [*ADAPTER, "--listen", address],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=adapter_environment(),
    )
    try:
        assert process.stdout is not None
        host, _, port = process.stdout.readline().split()[-1].rpartition(":")
        yield process, host, int(port)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("address", ["127.0.0.1:0", "localhost:0"])
def test_a_plain_client_connects_and_is_the_only_one(address: str) -> None:
    with listening(address) as (process, host, port):
        with DapClient.connect(host, port) as client:
            client.initialize()
            with pytest.raises(OSError):
                socket.create_connection((host, port), timeout=5).recv(1)
            client.launch({"program": str(program("plain.py")), "runtime": False, "console": "internalConsole"})
            assert client.wait_for_end() == 3
            client.request("disconnect")
        assert process.wait(10) == 0


@pytest.mark.matrix
def test_a_silent_client_does_not_keep_the_port_for_ever() -> None:
    with listening() as (process, host, port), socket.create_connection((host, port), timeout=90) as silent:
        assert silent.recv(1) == b""
        _, stderr = process.communicate(timeout=20)
        assert process.returncode == 1 and "sent no message for 30 seconds" in stderr


def test_http_is_refused() -> None:
    body = b'{"type":"request","seq":1,"command":"initialize","arguments":{"adapterID":"x"}}'
    request = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(
        body
    )
    with listening() as (process, host, port):
        sock = socket.create_connection((host, port), timeout=20)
        sock.sendall(request + body)
        assert sock.recv(1) == b""
        _, stderr = process.communicate(timeout=20)
        assert process.returncode == 1 and "HTTP" in stderr


@pytest.mark.parametrize("address", ["0.0.0.0:0", "8.8.8.8:1", "nonsense", "127.0.0.1:x", "host.example:1"])
def test_other_addresses_are_refused(address: str) -> None:
    done = subprocess.run(
        [*ADAPTER, "--listen", address],
        capture_output=True,
        text=True,
        timeout=60,
        env=adapter_environment(),
        check=False,
    )
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert address.split(":")[0] in done.stderr


def test_connections_of_this_user_are_told_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as ours:
        accepted, peer = server.accept()
        with accepted:
            assert not is_another_user(peer, accepted.getsockname())
            monkeypatch.setattr("dynascope.wire.peer_user._user_of", lambda peer, own: 12345)
            assert is_another_user(ours.getsockname(), accepted.getsockname())
