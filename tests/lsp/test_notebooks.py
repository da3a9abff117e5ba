"""A notebook's cell has the facts that its kernel recorded for this very content."""

from __future__ import annotations

from pathlib import Path

from dynascope.facts.writer import Writer
from dynascope_lsp.recorded.notebooks import SEED, murmur_hash_2
from lsprotocol import types

from tests.lsp.editor import editor, run
from tests.support.facts import sample

CELL = "vscode-notebook-cell:/work/book.ipynb#W0sZmlsZQ"


def test_the_hash_tells_cells_apart():
    """MurmurHash2 has few published vectors; of a zero key with a zero seed it is zero, and every byte counts."""
    assert murmur_hash_2(b"", 0) == 0
    assert len({murmur_hash_2(b"print(%d)" % number, SEED) for number in range(256)}) == 256


def test_a_cell_is_found_by_its_content(tmp_path: Path):
    text = sample.LAYERS
    path = f"/tmp/ipykernel_4711/{murmur_hash_2(text.encode(), SEED)}.py"
    writer = Writer(tmp_path / ".dynascope" / "facts.db", sample.new_run(tmp_path))
    writer.write(sample.first_compile("/nowhere/model.py", path))
    writer.close()

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            cell = types.NotebookCell(types.NotebookCellKind.Code, CELL)
            each.client.notebook_document_did_open(
                types.DidOpenNotebookDocumentParams(
                    types.NotebookDocument("file:///work/book.ipynb", "jupyter-notebook", 1, [cell]),
                    [types.TextDocumentItem(CELL, "python", 1, text)],
                )
            )
            found = await each.diagnostics(CELL)
            assert [(d.code, d.range.start.line + 1) for d in found] == [("GB0170", 5)]

    run(scenario)


def test_a_cell_and_an_unsaved_document_have_predictions(tmp_path: Path):
    text = "import torch\n\n\n@torch.compile\ndef f(x):\n    print(x)\n    return x\n"

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            for uri in (CELL, "untitled:Untitled-1"):
                each.client.text_document_did_open(
                    types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text))
                )
                assert [d.range.start.line for d in await each.diagnostics(uri)] == [5], uri

    run(scenario)


def test_a_cell_knows_what_the_cells_before_it_import(tmp_path: Path):
    sources = [
        "%matplotlib inline\nimport torch\nfrom torch import nn",
        "class Net(nn.Module):\n    def forward(self, x):\n        print(x)\n        return x\n",
        "def (",
        "net = torch.compile(Net())\n@torch.compile\ndef f(x):\n    return x.sum().item()",
    ]
    uris = [f"{CELL}{number}" for number in range(len(sources))]

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            each.client.notebook_document_did_open(
                types.DidOpenNotebookDocumentParams(
                    types.NotebookDocument(
                        "file:///work/book.ipynb",
                        "jupyter-notebook",
                        1,
                        [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in uris],
                    ),
                    [types.TextDocumentItem(uri, "python", 1, text) for uri, text in zip(uris, sources, strict=True)],
                )
            )

            async def lines(place: int) -> list[int]:
                return [found.range.start.line + 1 for found in await each.diagnostics(uris[place])]

            assert [await lines(place) for place in range(4)] == [[], [3], [], [4]]
            content = types.TextDocumentContentChangeWholeDocument("import math as torch")
            changed = types.NotebookDocumentCellContentChanges(
                types.VersionedTextDocumentIdentifier(2, uris[0]), [content]
            )
            each.client.notebook_document_did_change(
                types.DidChangeNotebookDocumentParams(
                    types.VersionedNotebookDocumentIdentifier(2, "file:///work/book.ipynb"),
                    types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[changed])),
                )
            )
            assert [await lines(place) for place in range(4)] == [[], [], [], []]

    run(scenario)
