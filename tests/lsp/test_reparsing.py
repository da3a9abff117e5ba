"""After an edit, only what is around it is parsed again; the tree is the one that the whole text has."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from dynascope_lsp.documents import reparsing, syntax
from dynascope_lsp.documents.text import Text

FOLDER = Path(syntax.__file__).parent
PIECES = (
    *(
        "x = 1",
        "    x = 1",
        "def f(a):",
        "    return a",
        "@cache",
        "else:",
        "    else:",
        "except ValueError:",
        "(",
        ")",
    ),
    *(
        '"""',
        "'''",
        "class C:",
        "    pass",
        "# a word",
        "",
        "\\",
        "x = \\",
        "if x:",
        "try:",
        "finally:",
        "a = 1; b = 2",
    ),
    *('s = """one', 'two"""', "import os", "        y = [", "        ]", "with a as b:", "    @property"),
)


def dump(text: Text) -> str | None:
    return ast.dump(text.tree, include_attributes=True) if text.tree is not None else None


def says(text: Text) -> object:
    """All that an index says, without the nodes."""
    index = text.index
    if index is None:
        return None
    lines = range(1, len(text.lines) + 1)
    functions = [
        f and (f.qualified_name, f.first_line, f.last_line, f.name_line) for f in map(index.function_at, lines)
    ]
    return (
        functions,
        [{line: [each.lineno for each in nodes] for line, nodes in index.calls.items()}],
        [sorted((line, *(each.id for each in nodes)) for line, nodes in index.assigned.items())],
        [(each.lineno, each.names[0].name) for each in index.imports],
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_tree_is_that_of_the_whole_text(seed: int):
    chosen = random.Random(seed)
    lines = (FOLDER / chosen.choice(["syntax.py", "text.py", "alignment.py"])).read_text().splitlines()[:150]
    text = Text("\n".join(lines))
    for _ in range(60):
        place = chosen.randrange(len(lines) + 1)
        removed = chosen.choice([0, 0, 1, 1, 2, 7])
        added = chosen.choices(PIECES, k=chosen.choice([0, 1, 1, 2]))
        kept = list(lines)
        lines[place : place + removed] = added
        text = Text("\n".join(lines), before=text)
        assert dump(text) == dump(Text(text.source)), text.source
        assert says(text) == says(Text(text.source))
        if text.tree is None and chosen.random() < 0.7:  # an editor's text is seldom broken for long
            lines = kept
            text = Text("\n".join(lines), before=text)
            assert dump(text) == dump(Text(text.source))


def test_an_edit_is_parsed_without_the_rest(monkeypatch: pytest.MonkeyPatch):
    source = "".join(f"def f{number}(x):\n    return x + {number}\n\n\n" for number in range(300))
    text = Text(source)
    assert text.tree is not None
    parsed: list[int] = []
    parse = reparsing.parse
    monkeypatch.setattr(reparsing, "parse", lambda part: parsed.append(len(part.split())) or parse(part))
    for each in (
        source.replace("+ 150", "- 150"),
        source.replace("+ 150", "+ (\n        150)"),
        source.replace("+ 150", "+ ("),
    ):
        text = Text(each, before=text)
        assert dump(text) == dump(Text(each))
    whole = len(source.split())
    assert len([count for count in parsed if count < whole / 50]) == 3  # the others are of `Text(each)`
    assert text.tree is None


def test_an_earlier_text_is_parsed_anew_when_its_tree_has_moved():
    source = "a = 1\n\n\nb = 2\n\n\nc = 3\n\n\nd = 4\n"
    first = Text(source)
    assert first.tree is not None
    second = Text("a = 1\n" + source, before=first)
    assert second.tree is not None
    assert dump(first) == dump(Text(source))
    assert dump(second) == dump(Text("a = 1\n" + source))
