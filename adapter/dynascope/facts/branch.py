"""Read from a program's source what a line does with a value: what a branch decides by it, or that it is collected.

It is read in the program, while it compiles: no more is parsed than the statement, and nothing of it can make Python
warn, as an invalid escape sequence does.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import textwrap
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from dynascope.facts.number_reads import read_by_python
from dynascope.facts.number_use import indentation_of, is_number, is_size
from dynascope.facts.side_effects import acts, acts_in_try

_WORD = re.compile(r"[A-Za-z_]\w*")
_BEGINS = re.compile(r"\s*((el)?if|assert|while)\b")
_APPENDS = re.compile(r"[\w.]+(?:\[[^\]]*\])?\.append\(.*\)(?:\s*#.*)?")
_SORTS = re.compile(r"\b(?:sort|sorted)\(.*\bkey\s*=\s*lambda\b")
_CALLS_ELEMENT = re.compile(r"\w\[[^\[\]'\":,]+\]\(")
_PACKS = re.compile(r"\bpack_(?:padded_)?sequence\(|\bPackedSequence\b")
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_HANDLES = re.compile(r"\s*except\b\s*(?P<error>.*?)(?:\bas\b.*)?:")
_ITERATES = re.compile(r"\s*for\b.*\bin\b")
_TARGETS = re.compile(r"\A\s*for\b.*?\bin\b")
_ASSIGNS = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:,[\s\w,]*)?=(?!=)")
_GOES_ON = re.compile(r"\s*(else\b|elif\b|[)\]}])")
_DEFINES = re.compile(r"(async )?def |class ")
_LONGEST_TEST = 20
"""The most lines of a condition above the traced one."""
_LONGEST = 400
"""The most lines of a statement that is read."""


Branch = Literal[
    "",
    "raises",
    "caught",
    "loop",
    "random",
    "acts",
    "collects",
    "keeps",
    "sorts",
    "calls",
    "iterates",
    "joins",
    "sizes",
    "decides",
    "passed",
    "packed",
    "autograd",
]
"""The use of a condition. `raises`: an assertion, or an `if` of which one side only raises; `caught`: one in a `try`
that catches it; `loop`: a `while`, or an `if` that ends a loop; `random`: its condition has a random number of NumPy's,
`if np.random.rand() < 0.5`; `acts`: it prints, or changes an object; `joins`: it joins results of calls by `or`, `and`.

The use of a result. `collects`: it appends to a list; `keeps`: it gives a number to an object,
`self.total += loss.item()`; `sorts`: it has the key of a sort; `calls`: it calls an element, `experts[best](x)`;
`iterates`: Python goes through the result, or asks for its length; `sizes`: its number is only a size, or the end of a
slice; `decides`: a later condition reads its number; `passed`: a function of Python takes it, or it is a key; `packed`:
it calls a recurrent network in a file that packs sequences; `autograd`: an autograd function's forward takes it."""


def branch_at(path: str, line: int, is_of_call: bool = False) -> Branch:
    """Return what the condition on this line decides; "" without the source.

    `is_of_call`: only a call in the condition counts, and no other call may be on the line (`if bad: x.item()`).
    """
    lines = _lines(path)
    found = _branch_in(lines, line, is_of_call)
    return "autograd" if is_of_call and found in _OF_NUMBERS and _is_in_autograd_function(lines, line) else found


def _branch_in(lines: list[str], line: int, is_of_call: bool) -> Branch:
    if is_of_call and line <= len(lines) and is_size(lines, line):
        return "sizes"
    if line <= len(lines) and (use := _use(lines[line - 1].strip(), is_of_call and not _goes_on(lines, line))):
        return use
    first, found = _with_condition(lines, line)
    if found is None:
        return read_by_python(lines, line) if is_of_call and line <= len(lines) else ""
    if is_of_call and not (_calls([found.test]) and not _calls(_others(found), until=line - first + 1)):
        return ""
    if any(_draws(each, not is_of_call) for each in ast.walk(found.test)):
        return "random"
    decided: Branch = "loop" if isinstance(found, ast.While) else "raises"
    if isinstance(found, ast.If):
        decided = next(filter(None, map(_of_side, (found.body, found.orelse))), "")
    if not decided and isinstance(found, ast.If) and acts([*found.body, *found.orelse]):
        return "acts"
    if not decided and not is_of_call and _joins(found.test):
        return "joins"
    # `torch._assert_async` raises another error, later, where what is raised here is caught
    caught_by = _caught_by(lines, first) if decided == "raises" else 0
    return decided if not caught_by else "acts" if acts_in_try(lines, caught_by) else "caught"


_OF_NUMBERS: tuple[Branch, ...] = ("", "collects", "keeps", "sizes", "decides")
"""Uses against which it may be advised to keep the number in the graph."""


def use_of_sequences(path: str) -> Branch:
    """Return `packed` if a file packs sequences, of whose networks nothing is traced."""
    return "packed" if any(_PACKS.search(each) for each in _lines(path)) else ""


class BranchCondition(NamedTuple):
    """The condition of an `if` or `while`."""

    text: str
    body: int
    """The first line that runs where it is true."""


def condition_at(path: str, line: int) -> BranchCondition | None:
    """Return the condition of the `if` or `while` on a line; None without its source."""
    first, found = _with_condition(_lines(path), line)
    if not isinstance(found, ast.If | ast.While):
        return None
    return BranchCondition(ast.unparse(found.test), first + found.body[0].lineno - 1)


def _with_condition(lines: list[str], line: int) -> tuple[int, ast.If | ast.Assert | ast.While | None]:
    """Return the statement whose condition is on a line, and its first line; None without such."""
    first = next((at for at in range(line, max(line - _LONGEST_TEST, 0), -1) if _begins(lines, at)), 0)
    if not first:
        return 0, None
    text = textwrap.dedent("".join(_statement(lines[first - 1 : first - 1 + _LONGEST]))).removeprefix("el")
    try:
        (found,) = ast.parse(text.replace("\\\n", " ").replace("\\", "/")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0, None
    if not isinstance(found, ast.If | ast.Assert | ast.While) or line - first >= (found.test.end_lineno or 1):
        return 0, None
    return first, found


def use_of_result(path: str, line: int) -> Branch:
    """Return `iterates` if Python goes through the result of this line, or asks for its length."""
    lines = _lines(path)
    if line > len(lines):
        return ""
    text = lines[line - 1]
    if _ITERATES.match(text):
        return "iterates"
    found = _ASSIGNS.match(text)
    if found is None:
        return ""
    name = rf"{found[1]}\b"
    asks = re.compile(
        rf"\bin\s+(?:(?:enumerate|zip|sorted|reversed)\()*{name}(?!\s*[.\[])|\blen\({name}|\b{name}\.tolist\("
        rf"|^\s*(?:(?:el)?if|while|assert)\b.*\b{name}\.(?:numel|shape|size|nelement)\b"
    )
    for each in lines[line:]:
        if each.strip() and indentation_of(each) < indentation_of(text):
            break
        if asks.search(each.partition("#")[0]):
            return "iterates"
    return ""


def _use(text: str, is_of_call: bool) -> Branch:
    """Return what a statement of one line does with the result of a call."""
    if _APPENDS.fullmatch(text):
        return "collects"
    if not is_of_call or "(" not in text:
        return ""
    if _SORTS.search(text):
        return "sorts"
    if _CALLS_ELEMENT.search(text):
        return "calls"
    try:
        (found,) = ast.parse(text.replace("\\", "/")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return "keeps" if _keeps(found) else ""


def _keeps(found: ast.stmt) -> bool:
    """Whether a statement gives a number to an object, as statistics do.

    An operator that works in place ends with `_`; `out[i] = x.item()` may write into a tensor.
    """
    match found:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method), args=arguments, keywords=keywords)):
            given = [*arguments, *(each.value for each in keywords)]
            return not method.endswith("_") and any(map(is_number, given))
        case ast.AugAssign(target=target, value=value) | ast.Assign(targets=[target], value=value):
            return _is_of_object(target) and is_number(value)
    return False


def _goes_on(lines: list[str], line: int) -> bool:
    """Whether a line is not the first of its statement."""
    above = next((each.partition("#")[0].rstrip() for each in reversed(lines[: line - 1]) if each.strip()), "")
    return above.endswith(("(", "[", "{", ",", "\\", "=", "+", "-", "*", "/"))


def _is_of_object(target: ast.expr) -> bool:
    """Whether a target of an assignment is an attribute, or the value of a key."""
    match target:
        case ast.Attribute() | ast.Subscript(slice=ast.Constant(value=str()) | ast.JoinedStr()):
            return True
        case ast.Subscript(slice=ast.Name(id=key)):
            return len(key) > 1  # `out[i]` may write into a tensor
    return False


def words_at(path: str, line: int) -> set[str]:
    """Return the names, keys and attributes in a line; empty without the source.

    The targets of a `for` loop are left out, which follow from what it goes through.
    """
    return {*_WORD.findall(_TARGETS.sub("", _with_brackets(path, line)))}


def paths_at(path: str, line: int) -> list[str]:
    """Return the attributes in a line, `self.cfg.sync`; empty without the source."""
    return _PATH.findall(_with_brackets(path, line))


def _with_brackets(path: str, line: int) -> str:
    """Return a line without its comment, and the lines after it up to the end of its brackets."""
    text, depth = "", 0
    for each in _lines(path)[max(line - 1, 0) : line - 1 + _LONGEST_TEST]:
        code = each.partition("#")[0]
        text += code
        depth += sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))
        if depth <= 0:
            break
    return text


def handled_at(path: str, line: int) -> str | None:
    """Return the error that a handler on a line takes, "" for all errors; None without one."""
    lines = _lines(path)
    found = _HANDLES.match(lines[line - 1]) if 0 < line <= len(lines) else None
    return found["error"].strip() if found is not None else None


def _lines(path: str) -> list[str]:
    if not os.path.isfile(path):  # a cell of a notebook; a pipe must not be read
        return linecache.getlines(path)
    try:
        with tokenize.open(path) as file:
            return file.readlines()
    except (OSError, SyntaxError, ValueError):
        return []


def _begins(lines: list[str], line: int) -> bool:
    return line <= len(lines) and _BEGINS.match(lines[line - 1]) is not None


def _statement(lines: list[str]) -> list[str]:
    """Return the lines that belong to the statement on the first."""
    indentation = indentation_of(lines[0])
    for number, line in enumerate(lines[1:], 1):
        more, is_code = indentation_of(line) - indentation, line.lstrip()[:1] not in ("", "#")
        if is_code and (more < 0 or (more == 0 and not _GOES_ON.match(line))):
            return lines[:number]
    return lines


def _is_in_autograd_function(lines: list[str], line: int) -> bool:
    """Whether a line is in the forward of a `torch.autograd.Function`."""
    around = (text for _, text in _around(lines, line) if _DEFINES.match(text)) if 0 < line <= len(lines) else iter(())
    return re.match(r"def forward\(\s*ctx\b", next(around, "")) is not None


def _caught_by(lines: list[str], line: int) -> int:
    """Return the line of the `try` around a statement that has an `except`; 0 without one."""
    for number, text in _around(lines, line):
        if text.startswith("try:") and _has_handler(lines[number:], indentation_of(lines[number - 1])):
            return number
        if _DEFINES.match(text):
            return 0
    return 0


def _around(lines: list[str], line: int) -> Iterator[tuple[int, str]]:
    """Yield the numbers and first lines of the blocks around a line, the innermost first."""
    indentation = indentation_of(lines[line - 1])
    for number in range(line - 1, 0, -1):
        above = lines[number - 1]
        text = above.lstrip()
        if text[:1] not in ("", "#", "\n") and indentation_of(above) < indentation:
            indentation = indentation_of(above)
            yield number, text


def _has_handler(lines: Iterable[str], indentation: int) -> bool:
    """Whether the first clause that is indented so is an `except`."""
    clauses = (line.lstrip() for line in lines if line.strip() and indentation_of(line) <= indentation)
    return next(clauses, "").startswith("except")


def _others(found: ast.If | ast.While | ast.Assert) -> list[ast.stmt] | list[ast.expr]:
    """Return what a statement has besides its condition."""
    if isinstance(found, ast.Assert):
        return [found.msg] if found.msg is not None else []
    return [*found.body, *found.orelse]


def _calls(parts: Sequence[ast.AST], until: int | None = None) -> bool:
    """Whether there is a call, on one of the first lines only."""
    nodes = (node for part in parts for node in ast.walk(part))
    return any(isinstance(node, ast.Call) and (until is None or node.lineno <= until) for node in nodes)


def _draws(node: ast.AST, also_pythons: bool) -> bool:
    """Whether it is a call of a function of `np.random`, or of a generator: `self.rng.random()`.

    `also_pythons`: those of Python's generators and of `random`, whose numbers are symbolic in a graph, count, too.
    """
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    owner = ast.unparse(node.func.value)
    return owner in ("np.random", "numpy.random") or (
        also_pythons and re.fullmatch(r"(.*[._])?(rng|random|generator)", owner) is not None
    )


def _joins(test: ast.expr) -> bool:
    """Whether a condition joins the results of several calls."""
    return isinstance(test, ast.BoolOp) and sum(_calls([each]) for each in test.values) > 1


def _of_side(statements: list[ast.stmt]) -> Branch:
    if len(statements) == 1 and isinstance(statements[0], ast.Raise):
        return "raises"
    return "loop" if statements and isinstance(statements[-1], ast.Break) else ""
