"""Random edits and requests: the language server answers each, says nothing of errors of its own, and ends in time."""

from __future__ import annotations

import itertools
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import sample
from tests.support.lsp.client import LspClient, Refused
from tests.support.lsp.fuzz import Documents, Messages

INTERNAL_ERROR = -32603
SECONDS_TO_END = 2.0
FREE = "import torch\n\n\n@torch.compile\ndef free(x):\n    𝛌 = '💥', x.sum().item()\n    return 𝛌\n"
CAPABILITIES: list[Any] = [
    {},
    {"workspace": {"configuration": True, "workspaceFolders": True, "inlayHint": {"refreshSupport": True}}},
    {
        "textDocument": {"diagnostic": {}, "codeAction": {"disabledSupport": True}, "hover": {"contentFormat": []}},
        "window": {"showDocument": {"support": True}, "workDoneProgress": True},
        "workspace": {"diagnostics": {"refreshSupport": True}, "didChangeWatchedFiles": {"dynamicRegistration": True}},
        "experimental": {"commands": {"commands": ["dynascope.debugFunction"]}, "factsChanged": True},
    },
]


class Session:
    """One server under random messages."""

    def __init__(self, client: LspClient, seed: int, folder: Path) -> None:
        self.client, self.seed = client, seed
        self.random, self._answers = random.Random(seed), random.Random(seed)
        one, two = folder / "one é", folder / "two"
        for each in (one, two):
            each.mkdir()
            sample.write_sample(each)
            (each / "free.py").write_text(FREE)
        (two / "broken.py").write_text("def (\x00")
        self.files = [each for folder in (one, two) for each in folder.glob("*.py")]
        documents = Documents(self.random, [*(each.as_uri() for each in self.files), "untitled:Untitled-1", "x:/y"])
        client.serve = self._serve
        client.send("textDocument/hover", {})
        client.notify("textDocument/didSave", {})
        client.start(one, two, capabilities=self.random.choice(CAPABILITIES), options=self._settings())
        keys = [row["key"] for row in client.result("dynascope/rows", {})]
        self.messages = Messages(seed, (one, two), documents, keys)
        self._stream = iter(self.messages)

    def run(self, count: int) -> int:
        """Send so many messages in bursts, each answered in full; return how many."""
        sent = 0
        while sent < count:
            size = self.random.randrange(5, 60)
            asked = [self._send(each) for each in itertools.islice(self._stream, size)]
            if self.random.random() < 0.3:
                self._touch()
            self._check([id for id in asked if id is not None])
            sent += size
        return sent

    def end(self) -> None:
        """End the session in one of the ways in which clients do."""
        way = self.random.randrange(4)
        open_requests = [self._send(each) for each in itertools.islice(self._stream, 20)] if way else []
        if way == 1:
            open_requests.append(self.client.send("shutdown"))
        _, seconds = self.client.end(shut_down=way in (0, 2))
        assert seconds < SECONDS_TO_END, seconds
        self._check([id for id in open_requests if id is not None])

    def _send(self, message: bytes | tuple[bool, Any, Any]) -> Any:
        if isinstance(message, bytes):
            self.client.raw(message)
            return None
        is_request, method, params = message
        if not is_request:
            self.client.notify(method, params)
            return None
        self.messages.sent.append(id := self.client.send(method, params))
        return id

    def _check(self, requests: list[int]) -> None:
        for id in requests:
            error = self.client.answer(id).get("error")
            assert error is None or (error["code"] != INTERNAL_ERROR and error["message"]), (self._asked(id), error)
        assert "Traceback" not in self.client.stderr, self.client.stderr
        assert not [each for each in self.client.messages() if "Error in server" in each or "Traceback" in each]
        assert not [id for id in self.client.doubled if id is not None]

    def _asked(self, id: int) -> Any:
        return next(each for each in self.client.sent if each.get("id") == id)

    def _touch(self) -> None:
        """Change files as another program does."""
        path = self.random.choice(self.files)
        match self.random.randrange(4):
            case 0:
                path.unlink(missing_ok=True)
            case 1:
                path.write_text(FREE if self.random.random() < 0.5 else "def (")
            case 2 if path.exists():
                os.replace(path, self.random.choice(self.files))
            case 3:
                sample.write_sample(path.parent, f"launch {self.random.random()}")

    def _serve(self, request: Any) -> Any:
        if self._answers.random() < 0.1:
            raise Refused("no")
        if request["method"] == "workspace/configuration":
            return self._answers.choice([[self._settings()], [], None, [None, None], {"a": 1}, [5]])
        return None

    def _settings(self) -> Any:
        return self._answers.choice(
            [None, {}, {"predictions": False}, {"inlayHints": {"compile": "all"}}, {"severity": {"recompile": "x"}}, 5]
        )


def check(seeds: range, count: int, folder: Path) -> None:
    each = max(count // len(seeds), 1)
    for seed in seeds:
        place = folder / str(seed)
        place.mkdir()
        with LspClient(cwd=folder) as client:
            try:
                session = Session(client, seed, place)
                session.run(each)
                session.end()
            except Exception as error:
                raise AssertionError(f"seed {seed}: {error!r}") from error


def test_every_message_of_a_session_is_answered(tmp_path: Path) -> None:
    check(range(1, 2), 400, tmp_path)


@pytest.mark.matrix
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", range(10))
def test_tens_of_thousands_of_messages(part: int, tmp_path: Path) -> None:
    check(range(100 + 5 * part, 105 + 5 * part), 5_000, tmp_path)
