"""List the sentences that `explain/` can say, each with the program or the test in which it is said.

`tests/programs/sentences/said.json` maps sentences, with `{}` for what is put into them, to a program of that folder
(`breaks/times_its_layers`) or to a test (`tests/dap/test_what_if.py`). `python -m tests.support.sentences` writes the
table anew: it keeps what is there, drops sentences that are gone, and names those that lack a place.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME
from dynascope.report.summary import summarize

from tests.support.sentence_programs import WITHOUT_GRAPH_CACHES

ROOT = Path(__file__).resolve().parents[2]
EXPLAIN = ROOT / "adapter" / "dynascope" / "explain"
PROGRAMS = ROOT / "tests" / "programs" / "sentences"
TABLE = PROGRAMS / "said.json"
_LEAST_WORDS = 4
"""A text of fewer words is a part of a sentence."""
_WORD = re.compile(r"[A-Za-z’']{2,}")
_NO_TEXT = re.compile(r"\\|\(\?|\||^GB\d")
"""In patterns, and in ids of the registry, which are in `explain/` as well."""
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def sentences() -> list[str]:
    """Return all texts of at least four words in `explain/`, docstrings aside.

    Those of `expected_breaks` are not among them: tests/lsp/test_rules.py compares them with torch's.
    """
    paths = [path for path in sorted(EXPLAIN.glob("*.py")) if path.stem != "expected_breaks"]
    found = (text for path in paths for text in _texts(ast.parse(path.read_text())))
    return [text for text in dict.fromkeys(found) if " " in text and len(_WORD.findall(text)) >= _LEAST_WORDS]


def _texts(tree: ast.Module) -> Iterator[str]:
    nodes = list(ast.walk(tree))
    formatted = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    others = {id(part) for node in formatted for part in ast.walk(node)}
    others |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    others |= {id(text) for node in nodes for text in _no_sentences(node)}
    for node in formatted:
        yield _plain("".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in others:
            yield "" if _NO_TEXT.search(node.value) else _plain(node.value)


def _no_sentences(node: ast.AST) -> list[ast.expr]:
    """Return what rules of `break_remedies` look for in torch's texts, and descriptions of settings and filters."""
    if not isinstance(node, ast.Call):
        return []
    begin = {"_Rule": 2, "CompilerFilter": 0}.get(ast.unparse(node.func), len(node.args))
    return node.args[begin:] + [each.value for each in node.keywords if each.arg == "about"]


def _plain(text: str) -> str:
    return _PLACEHOLDER.sub("{}", " ".join(text.split()))


def is_said(sentence: str, lines: Iterable[str]) -> bool:
    """Whether a line has the parts of a sentence, in their order."""
    parts = re.split(r"(?:\{\})+", sentence.strip())
    pattern = re.compile(".*?".join(map(re.escape, parts)))
    longest = max(parts, key=len)
    return any(longest in line and pattern.search(line) for line in lines)


def is_in_test(sentence: str, strings: str) -> bool:
    """Whether the strings of a test have three words of a sentence in a row, or a whole part of it."""
    runs = [part.split() for part in sentence.split("{}") if part.split()]
    threes = [words[start : start + 3] for words in runs for start in range(len(words) - 2)]
    return any(" ".join(words) in strings for words in threes or [max(runs, key=len)])


def strings_of(path: Path) -> str:
    """Return the strings of a test, a line each, without the escapes of patterns."""
    constants = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
    return "\n".join(" ".join(text.replace("\\", "").split()) for text in constants if isinstance(text, str))


def table() -> dict[str, str]:
    """Return the place of each sentence."""
    return dict(json.loads(TABLE.read_text())) if TABLE.exists() else {}


def said_in(program: Path) -> list[str]:
    """Return the sentences that are said of a program."""
    place = f"{program.parent.name}/{program.stem}"
    return [sentence for sentence, where in table().items() if where == place]


def recorded(program: Path, folder: Path) -> Path:
    """Record a program, and return the store."""
    command = [sys.executable, "-m", "dynascope", "run", str(program)]
    environment = os.environ | WITHOUT_GRAPH_CACHES | {"DYNASCOPE_FACTS": str(folder)}
    run = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=280)
    assert run.returncode == 0, run.stderr
    return folder / FILE_NAME


def told_of(store: Path) -> list[str]:
    """Return all that is said of the newest launch of a store, a line each."""
    with Reader.open(store) as reader:
        summary = summarize(reader, str(reader.newest_launch()))
    command = [sys.executable, "-m", "dynascope", "report", "--all"]
    environment = os.environ | {"DYNASCOPE_FACTS": str(store.parent)}
    report = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    texts = [*_strings(msgspec.to_builtins(summary.problems)), *_strings(summary.stories), report.stdout]
    return [" ".join(line.split()) for text in texts for line in text.splitlines()]


def _strings(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict | list):
        for each in found.values() if isinstance(found, dict) else found:
            yield from _strings(each)


def _write_anew() -> None:
    known, now = table(), sentences()
    kept = {text: known[text] for text in now if text in known}
    TABLE.write_text(f"{json.dumps(kept, indent=1, ensure_ascii=False)}\n")
    print(*(f"Where is this said? {text}" for text in now if text not in known), sep="\n", file=sys.stderr)


if __name__ == "__main__":
    _write_anew()
