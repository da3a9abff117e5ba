"""Random messages to the language server, the same for the same seed: of LSP's types, with values that fit or not."""

from __future__ import annotations

import random
import typing
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import attrs
from lsprotocol import types

OURS = ("rows", "locate", "document", "graph", "runsOfProgram", "timeline", "chromeTrace", "forget")
COMMANDS = (
    "dynascope.lineTimes",
    "dynascope.showShapesOfCompile",
    "dynascope.tryFix",
    "dynascope.openReport",
    "nosuch",
)
ASKED = (
    "textDocument/hover", "textDocument/hover", "textDocument/inlayHint", "textDocument/inlayHint", "inlayHint/resolve",
    "textDocument/codeLens", "textDocument/codeAction", "textDocument/codeAction", "textDocument/diagnostic",
    "textDocument/diagnostic", "workspace/diagnostic", "textDocument/definition", "textDocument/documentSymbol",
    "workspace/symbol", "textDocument/inlineValue", "workspace/executeCommand",
    "textDocument/completion", "textDocument/rename", "initialize",
)  # fmt: skip
TOLD = (
    "textDocument/didOpen", "textDocument/didClose", "textDocument/didSave", "textDocument/didChange",
    "textDocument/willSave", "workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles",
    "workspace/didChangeWorkspaceFolders", "workspace/didRenameFiles", "notebookDocument/didOpen",
    "notebookDocument/didChange", "notebookDocument/didClose", "window/workDoneProgress/cancel", "$/setTrace",
    "$/cancelRequest", "initialized", "nosuch", "$/nosuch",
)  # fmt: skip
NUMBERS = [-1, 0, 1, 2, 3, 7, 1000, 2**31 - 1, 2**31, 2**53, 2**63, 2**64, -(2**63), 10**30]
OTHERS = [1.5, 1e308, True, None, "1", "", [], {}, [1], [[[]]], {"a": {"a": 1}}, "\x00", "\ud800", "x" * 100_000]
URIS = [
    "file:///nonexistent.py", "untitled:1", "file:///a%00b.py", "file://[", "", "file:", "nosuch://x y", "file:///",
]  # fmt: skip
TEXTS = ["forward", "gate", "0/0", "latest", "all", "markdown", "utf-16", "quickfix", "", "é" * 5, "\ud83d", "(", "💥"]
INSERTED = [
    "x", "\n", "    y = x.sum().item()\n", "# 💥 \ud83d\n", '"""', "\x0c", "\u2028", "\r\n", "\r", "\x00", "(" * 300,
    "def f(x):\n    return x\n", "import torch\n", "@torch.compile\n", "𝛌 = 1\n", "x" * 50_000, "\t",
    "-" * 3000 + "1\n",     "if x.sum() > 0:\n    print(x)\n", "else:\n", "\\\n", "é", "",
]  # fmt: skip
JUNK = [
    b"", b"{", b"[]", b"null", b"5", b"{}", b'{"jsonrpc": "2.0"}',
    b'{"jsonrpc": "1.0", "id": null, "method": "shutdown"}',
    b'[{"jsonrpc": "2.0", "method": "exit"}]', b'{"jsonrpc": "2.0", "method": 5}', b"\xff\xfe", b"[" * 100_000,
    b'{"jsonrpc": "2.0", "id": [], "method": "textDocument/hover"}', b'{"jsonrpc": "2.0", "id": "nosuch", "result": 1}',
    b'{"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": ""}}', b'{"jsonrpc": "2.0", "method": "exit", ',
    b'{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1, "jsonrpc": "2.0"}}',
]  # fmt: skip
"""Bodies that are no requests with an id; some are answered with an id of null."""


class Documents:
    """The documents that are open, as an editor has them; positions count UTF-16 units."""

    def __init__(self, chance: random.Random, uris: Sequence[str]) -> None:
        self._random = chance
        self.uris = list(uris)
        self.texts: dict[str, str] = {}
        self._version = 0

    def change(self, uri: str) -> dict[str, Any]:
        """The parameters of an edit of this document, at any positions."""
        self._version += 1
        changes: list[dict[str, Any]] = []
        for _ in range(self._random.choice([1, 1, 1, 2, 5])):
            text = self._random.choice(INSERTED)
            if self._random.random() < 0.1:
                changes.append({"text": self._random.choice([text, self.texts[uri]])})
            else:
                changes.append({"text": text, "range": self._range(self.texts[uri])})
        return {"textDocument": {"uri": uri, "version": self._version}, "contentChanges": changes}

    def _range(self, text: str) -> dict[str, Any]:
        lines = text.count("\n") + 2
        start = self._random.choice([0, self._random.randrange(lines), self._random.randrange(lines), 2**31 - 1])
        end = start if self._random.random() < 0.8 else self._random.randrange(lines)
        first, last = (self._random.choice([0, 0, 1, 4, 9, 2**31 - 1]) for _ in range(2))
        return {"start": {"line": start, "character": first}, "end": {"line": end, "character": last}}


class Messages:
    """An endless iterator of `(is a request, method, params)`, or of a body that is none."""

    def __init__(self, seed: int, folders: Sequence[Path], documents: Documents, keys: list[str]) -> None:
        self.random = random.Random(seed)
        self._folders, self.documents = folders, documents
        self._keys = keys
        """The keys of launches."""
        self.sent: list[Any] = []
        """The ids of requests."""

    def __iter__(self) -> Iterator[bytes | tuple[bool, Any, Any]]:
        while True:
            yield self._one()

    def _one(self) -> bytes | tuple[bool, Any, Any]:
        choose, kind = self.random.choice, self.random.random()
        is_open = [uri for uri in self.documents.uris if uri in self.documents.texts]
        if kind < 0.25 and is_open:
            return False, "textDocument/didChange", self.documents.change(choose(is_open))
        if kind < 0.32:
            return self._opened_or_closed()
        if kind < 0.34:
            return choose(JUNK)
        if kind < 0.38:
            return False, "$/cancelRequest", {"id": choose([*self.sent[-10:], -1, "nosuch"])}
        if kind < 0.46:
            method = f"dynascope/{choose(OURS)}"
            key = choose([*self._keys, "", "[]", '["/nosuch", "1"]'])
            rows = [f"{choose(['compiles', 'compile', 'guards', 'breaks', 'time', 'lines'])}:{choose(NUMBERS)}"]
            params = {
                "key": key, "keys": [key, *rows],
                "document": choose(["graph:1", "bytecode:x", "guards:2", "a:1:b", ""]),
                "place": {"path": choose(self.documents.uris).removeprefix("file://"), "line": choose(NUMBERS)},
            }  # fmt: skip
            if method.endswith("forget"):
                params = {"key": '["/nosuch", "1"]'}
            return True, method, self._any() if self.random.random() < 0.2 else params
        if kind < 0.6:
            return self._typed(False, choose(TOLD))
        return self._typed(True, choose(ASKED))

    def _opened_or_closed(self) -> tuple[bool, Any, Any]:
        uri, documents = self.random.choice(self.documents.uris), self.documents
        kind = self.random.random()
        if uri not in documents.texts:
            documents.texts[uri] = self._on_disk(uri)
            item = {"uri": uri, "languageId": "python", "version": 1, "text": documents.texts[uri]}
            return False, "textDocument/didOpen", {"textDocument": item}
        if kind < 0.5:
            return False, "textDocument/didSave", {"textDocument": {"uri": uri}}
        del documents.texts[uri]
        return False, "textDocument/didClose", {"textDocument": {"uri": uri}}

    def _on_disk(self, uri: str) -> str:
        try:
            return Path(uri.removeprefix("file://")).read_text()
        except (OSError, ValueError):
            return self.random.choice(INSERTED)

    def _typed(self, is_request: bool, method: str) -> tuple[bool, Any, Any]:
        found = types.METHOD_TO_TYPES.get(method)
        if found is None or self.random.random() < 0.05:
            return is_request, method, self._any()
        kind = typing.get_type_hints(found[0]).get("params")
        return is_request, method, self._value("params", kind, 0)

    def _value(self, name: str, wanted: Any, depth: int) -> Any:
        """A value of a type, as JSON; sometimes of another."""
        if self.random.random() < 0.03 or depth > 8:
            return self._any()
        origin = typing.get_origin(wanted)
        if origin is typing.Union:
            return self._value(name, self.random.choice(typing.get_args(wanted)), depth)
        if origin is Sequence:
            return [self._value(name, typing.get_args(wanted)[0], depth + 1) for _ in range(self.random.randrange(3))]
        if attrs.has(wanted):
            return self._object(wanted, depth)
        if isinstance(wanted, type) and issubclass(wanted, Enum):
            return self.random.choice(list(wanted)).value
        if wanted is str:
            return self._text(name)
        if wanted is int:
            return self.random.randrange(40) if self.random.random() < 0.8 else self.random.choice(NUMBERS)
        if wanted is bool:
            return self.random.choice([True, False])
        if wanted is type(None):
            return None
        return self._any()

    def _object(self, wanted: Any, depth: int) -> dict[str, Any]:
        made = {}
        for name, kind in typing.get_type_hints(wanted).items():
            is_optional = type(None) in typing.get_args(kind)
            if self.random.random() < (0.5 if is_optional else 0.99):
                made[_camel(name)] = self._value(name, kind, depth + 1)
        return made

    def _text(self, name: str) -> str:
        if name in ("uri", "new_uri", "old_uri", "notebook", "document"):
            folders = [each.as_uri() for each in self._folders]
            return self.random.choice([*self.documents.uris * 3, *URIS, *folders])
        if name == "command":
            return self.random.choice(COMMANDS)
        if name == "text":
            return self.random.choice(INSERTED)
        return self.random.choice(TEXTS)

    def _any(self) -> Any:
        return self.random.choice([*NUMBERS, *OTHERS, *TEXTS, *({"uri": each} for each in self.documents.uris)])


def _camel(name: str) -> str:
    first, *others = name.rstrip("_").split("_")
    return first + "".join(each.title() for each in others)
