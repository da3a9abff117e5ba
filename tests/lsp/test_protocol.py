"""What a client sends wrong or out of turn is answered; documents are as the editor has them; the end is quick."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from dynascope_lsp.protocol.documents import OpenDocument
from dynascope_lsp.recorded.markdown import plain
from lsprotocol import types

from tests.support.facts import sample
from tests.support.lsp.client import LspClient

CANCELLED, NOT_JSON, INVALID, NO_METHOD, BAD_PARAMETERS, NOT_INITIALIZED = (
    -32800,
    -32700,
    -32600,
    -32601,
    -32602,
    -32002,
)
BREAKS = "import torch\n\n\n@torch.compile\ndef f(x):\n    return x.sum().item()\n"


def item(uri: str, text: str) -> dict[str, Any]:
    return {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": text}}


def place(line: int, character: int) -> dict[str, int]:
    return {"line": line - 1, "character": character}


def lines(first: int, last: int) -> dict[str, Any]:
    return {"start": place(first, 0), "end": place(last, 0)}


def test_what_cannot_be_handled_is_answered_with_what_is_wrong_with_it(tmp_path: Path):
    document = {"uri": (tmp_path / "model.py").as_uri()}
    with LspClient() as client:
        assert client.request("textDocument/hover", {})["error"]["code"] == NOT_INITIALIZED
        client.start(tmp_path)
        key = "dynascope/rows"
        for method, params, code, text in (
            ("textDocument/hover", None, BAD_PARAMETERS, "HoverParams"),
            ("textDocument/hover", {"textDocument": document}, BAD_PARAMETERS, "position"),
            ("textDocument/hover", {"textDocument": document, "position": place(0, 0)}, BAD_PARAMETERS, "position"),
            ("textDocument/inlayHint", {"textDocument": 5, "range": lines(1, 2)}, BAD_PARAMETERS, "text_document"),
            ("inlayHint/resolve", {"label": "", "position": place(1, 0), "data": {}}, BAD_PARAMETERS, "uri"),
            ("workspace/executeCommand", {"command": "nosuch"}, BAD_PARAMETERS, "nosuch"),
            (key, {"keys": 5}, BAD_PARAMETERS, "keys"),
            (key, {"keys": ["nosuch"]}, BAD_PARAMETERS, "JSON"),
            ("dynascope/timeline", None, BAD_PARAMETERS, "object"),
            ("textDocument/completion", {}, NO_METHOD, "textDocument/completion"),
            ("textDocument/didSave", {}, INVALID, "notification"),
            ("initialize", {"capabilities": {}}, INVALID, "already"),
        ):  # fmt: skip
            error = client.request(method, params)["error"]
            assert error["code"] == code and text in error["message"], (method, params, error)
        for body, code in (
            (b"{", NOT_JSON),
            (b"[" * 100_000, NOT_JSON),
            (b"[]", INVALID),
            (b'{"jsonrpc": "2.0"}', INVALID),
        ):
            client.answers.pop(None, None)
            client.raw(body)
            assert client.answer(None)["error"]["code"] == code, body
        client.notify("textDocument/didChange", {"textDocument": document | {"version": 1}, "contentChanges": []})
        client.notify("textDocument/didSave", None)
        assert client.end()[0] == 0
        assert "Traceback" not in client.stderr and not client.messages()


def test_a_list_that_is_a_long_text_is_refused_at_once(tmp_path: Path):
    with LspClient() as client:
        client.start(tmp_path)
        event = {"added": "x" * 100_000, "removed": []}
        client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        assert client.request("workspace/symbol", {"query": ""}, seconds=5)["result"] == []


def test_a_place_after_the_end_is_not_searched_for(tmp_path: Path):
    sample.write_sample(tmp_path)
    with LspClient() as client:
        client.start(tmp_path)
        document, far = {"uri": (tmp_path / "model.py").as_uri()}, {"line": 2**31 - 1, "character": 0}
        whole = {"start": place(1, 0), "end": far}
        hints = client.request("textDocument/inlayHint", {"textDocument": document, "range": whole}, seconds=5)
        assert hints["result"]
        context = {"frameId": 1, "stoppedLocation": {"start": far, "end": far}}
        params = {"textDocument": document, "range": whole, "context": context}
        assert client.request("textDocument/inlineValue", params, seconds=5)["result"]


def test_requests_that_are_open_at_shutdown_are_cancelled(tmp_path: Path):
    sample.write_sample(tmp_path)
    with LspClient() as client:
        client.start(tmp_path)
        report = {"command": "dynascope.openReport", "arguments": []}
        open_requests = [client.send("workspace/executeCommand", report) for _ in range(3)]
        code, _ = client.end()
        assert code == 0
        assert {client.answer(each)["error"]["code"] for each in open_requests} == {CANCELLED}


def test_a_request_after_shutdown_is_refused(tmp_path: Path):
    with LspClient() as client:
        client.start(tmp_path)
        assert client.request("shutdown")["result"] is None
        assert client.request("textDocument/hover", {})["error"]["code"] == INVALID
        assert client.end(shut_down=False)[0] == 0


def test_a_cancelled_request_that_waits_is_answered_without_work(tmp_path: Path):
    text = "\n".join(f"def f{number}(x):\n    return x + {number}" for number in range(8_000))
    with LspClient() as client:
        client.start(tmp_path)
        client.notify("textDocument/didOpen", item("untitled:one", text))
        document = {"textDocument": {"uri": "untitled:one"}}
        first, second = (client.send("textDocument/diagnostic", document) for _ in range(2))
        client.notify("$/cancelRequest", {"id": second})
        assert client.answer(second)["error"]["code"] == CANCELLED
        assert "result" in client.answer(first)


@pytest.mark.parametrize("shut_down", [True, False], ids=["after shutdown", "without shutdown"])
def test_exit_ends_the_server_whatever_it_does(tmp_path: Path, shut_down: bool):
    text = BREAKS + "\n".join(f"def f{number}(x):\n    return x + {number}" for number in range(16_000))
    (tmp_path / "long.py").write_text(text)
    with LspClient() as client:
        client.start(tmp_path)
        uri = (tmp_path / "long.py").as_uri()
        client.notify("textDocument/didOpen", item(uri, text))
        if shut_down:
            client.request("shutdown")
        for version in range(20):
            changes = [{"text": "y = 1\n", "range": lines(version * 100 + 1, version * 100 + 1)}]
            change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes}
            client.notify("textDocument/didChange", change)
        client.send("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        code, seconds = client.end(shut_down=False)  # its stdin stays open
        assert seconds < 8  # all of that would take a minute
        assert code == (0 if shut_down else 1)


def test_the_server_ends_with_its_input(tmp_path: Path):
    with LspClient() as client:
        client.start(tmp_path)
        request = client.send("textDocument/hover", {})
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert "error" in client.answer(request)
        assert client.process.wait(10) == 1
        assert not client.stderr


def test_an_open_document_is_found_by_a_uri_with_escapes(tmp_path: Path):
    path = tmp_path / "with space é#.py"
    path.write_text("x = 1\n")
    with LspClient() as client:
        client.start(tmp_path)
        client.notify("textDocument/didOpen", item(path.as_uri(), BREAKS))
        document = {"uri": path.as_uri()}
        (found,) = client.result("textDocument/diagnostic", {"textDocument": document})["items"]
        assert found["range"]["start"] == place(6, 11)
        whole = {"start": place(1, 0), "end": place(7, 0)}
        params = {"textDocument": document, "range": whole, "context": {"frameId": 1, "stoppedLocation": whole}}
        client.notify("textDocument/didChange", {
            "textDocument": {"uri": path.as_uri(), "version": 2},
            "contentChanges": [{"text": "# \ud83d\n", "range": lines(1, 1)}],
        })  # fmt: skip
        names = client.result("textDocument/inlineValue", params | {"range": lines(1, 8)})
        assert (6, "x") in {(each["range"]["start"]["line"], each["variableName"]) for each in names}


def test_documents_are_as_the_editor_has_them():
    chance = random.Random(3)
    pieces = [
        "a",
        "\n",
        "\r\n",
        "\r",
        "\x0c",
        "\u2028",
        "\x85",
        "💥",
        "é",
        "x = 1\n",
        "",
        "\t",
        "\ufffd",
        "\x1c",
        "long line",
    ]
    for _ in range(300):
        mine = "".join(chance.choices(pieces, k=chance.randrange(12)))
        document = OpenDocument("file:///x.py", mine)
        for _ in range(10):
            text = "".join(chance.choices(pieces, k=chance.randrange(3)))
            first, last = sorted((chance.randrange(6), chance.choice([0, 1, 2, 3, 90])) for _ in range(2))
            change = types.Range(types.Position(*first), types.Position(*last))
            document.apply_change(types.TextDocumentContentChangePartial(change, text))
            mine = edited(mine, first, last, text)
            assert document.source == mine, (change, text)


def edited(text: str, first: tuple[int, int], last: tuple[int, int], new: str) -> str:
    """The text after an edit, by UTF-16 units as VS Code counts them."""
    units = [
        text.encode("utf-16-le")[place : place + 2] for place in range(0, 2 * len(text.encode("utf-16-le")) // 2, 2)
    ]
    starts, ends = [0], []
    for number, unit in enumerate(units):
        before_line_feed = unit == b"\r\0" and units[number + 1 : number + 2] == [b"\n\0"]
        if unit in (b"\n\0", b"\r\0") and not before_line_feed:
            after_return = unit == b"\n\0" and units[number - 1 : number] == [b"\r\0"]
            ends.append(number - after_return)
            starts.append(number + 1)
    ends.append(len(units))

    def index(line: int, character: int) -> int:
        if line >= len(starts):
            return len(units)
        found = min(starts[line] + character, ends[line])
        inside = found < len(units) and 0xDC <= units[found][1] <= 0xDF
        return found - inside

    begin, end = index(*first), index(*last)
    return b"".join([*units[:begin], new.encode("utf-16-le"), *units[max(begin, end) :]]).decode("utf-16-le")


def test_hovers_are_plain_text_where_the_client_wants_it(tmp_path: Path):
    sample.write_sample(tmp_path)
    for formats, kind in ((["plaintext", "markdown"], "plaintext"), ([], "markdown")):
        with LspClient() as client:
            client.start(tmp_path, capabilities={"textDocument": {"hover": {"contentFormat": formats}}})
            document = {"uri": (tmp_path / "model.py").as_uri()}
            params = {"textDocument": document, "position": place(13, 10)}
            found = client.result("textDocument/hover", params)["contents"]
            assert found["kind"] == kind
            assert ("**" in found["value"]) == (kind == "markdown")
            assert "no kernel for aten::frobnicate" in found["value"]


def test_plain_text_has_tables_without_marks_and_code_as_it_is():
    markdown = "**`f`**: 2 graphs\n\n| a | why |\n| --- | --- |\n| 10 | `x ** 2 \\| **y**` |\n\n---\n\n*Old: yes.*\n[GB1](https://x/y)"
    assert plain(markdown) == "f: 2 graphs\n\na   why\n10  x ** 2 | **y**\n\nOld: yes.\nGB1 (https://x/y)"


def test_a_client_that_shows_no_documents_is_told_where_the_report_is(tmp_path: Path):
    sample.write_sample(tmp_path)
    with LspClient() as client:
        asked: list[str] = []
        client.serve = lambda request: asked.append(request["method"])
        client.start(tmp_path)
        client.result("workspace/executeCommand", {"command": "dynascope.openReport", "arguments": []})
        (message,) = client.messages()
        assert Path(message.removeprefix("The report is in ")).is_file()
        assert "window/showDocument" not in asked
