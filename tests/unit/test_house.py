"""The rules that keep the house a house (CONTRIBUTING.md, "House rules"), read off the source itself."""

from __future__ import annotations

import ast
import graphlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from dynascope import console
from dynascope.explain.kinds import KINDS
from dynascope.facts.model import BreakEffect

from tests.support.house import (
    ARCHITECTURE,
    DYNAMO_PRIVATE,
    ENTRY_POINTS,
    MAY_IMPORT,
    PYDEVD,
    PYDEVD_NAME,
    ROOMS,
    ROOT,
    RUNS_IN_THE_PROGRAM,
    SOURCES,
    TORCH_ROOMS,
    below,
    identifiers,
    imports,
    module_name,
    package,
    private_names,
    room,
    rooms_used,
    source,
    tree,
    where,
    wing,
    with_pictures,
)


def test_wings_import_only_what_they_stand_on():
    wrong = []
    for path in SOURCES:
        here = wing(path)
        if module_name(path) in RUNS_IN_THE_PROGRAM:
            continue
        assert here in MAY_IMPORT, f"say in MAY_IMPORT what {here} may import of ours"
        own = package(here)
        for line, name in imports(path):
            if below(name, ("dynascope", "dynascope_lsp")) and not below(name, MAY_IMPORT[here] | {own}):
                wrong.append(where(path, line, f"{here} imports {name}"))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("of", ROOMS)
def test_rooms_import_only_rooms_on_lower_floors(of: str):
    floors = ROOMS[of]
    floor = {name: number for number, rooms in enumerate(reversed(floors)) for name in rooms}
    allowed = {name: set(row.split()) for rooms in floors for name, row in rooms.items()}
    wrong = [
        f"{name} may not import {other}: it is on no lower floor"
        for name, others in allowed.items()
        for other in others
        if floor[other] >= floor[name]
    ]
    used = rooms_used(of)
    unknown = {room(module_name(path), of) for path in SOURCES if wing(path) == of} - allowed.keys() - {"", "__main__"}
    assert not unknown, f"say in ROOMS which floor of {of} {unknown} is on"
    wrong += [f"{name} imports {', '.join(more)}" for name in used if (more := used[name] - allowed[name])]
    wrong += [
        f"{name} may import {', '.join(unused)}, and does not"
        for name in used
        if (unused := allowed[name] - used[name])
    ]
    assert not wrong, "\n".join(wrong)


def test_imports_form_no_circle():
    """Those for type checkers and inside functions count too."""
    modules = {module_name(path): path for path in SOURCES}
    graph = {
        module: modules.keys() & {name if name in modules else name.rpartition(".")[0] for _, name in imports(path)}
        for module, path in modules.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail("a circle: " + " is imported by ".join(error.args[1]), pytrace=False)


def test_only_the_agent_imports_torch():
    wrong = [
        where(path, line, name)
        for path in SOURCES
        if wing(path) != "agent" and module_name(path) not in ENTRY_POINTS
        for line, name in imports(path)
        if below(name, ("torch",))
    ]
    assert not wrong, "\n".join(wrong)


def test_only_four_rooms_name_what_is_private_to_dynamo():
    wrong = [
        where(path, line, name)
        for path in SOURCES
        if not below(module_name(path), TORCH_ROOMS) and module_name(path) not in ENTRY_POINTS
        for line, name in private_names(path)
    ]
    assert not wrong, "\n".join(wrong)


def test_only_the_suspension_and_threads_name_pydevd():
    wrong = [
        where(path, line, name)
        for path in SOURCES
        if path not in PYDEVD
        for line, name in [*identifiers(path), *imports(path)]
        if PYDEVD_NAME.fullmatch(name.partition(".")[0])
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_goes_with_an_object_by_python_code_that_dynamo_compiles():
    of_python = {"WeakKeyDictionary", "WeakValueDictionary", "WeakSet", "WeakMethod", "finalize"}
    wrong = [
        where(path, line, name)
        for path in SOURCES
        if wing(path) == "agent"
        for line, name in [*identifiers(path), *imports(path)]
        if name.rpartition(".")[2] in of_python
    ]
    assert not wrong, "use `agent.internals.weak_keys` instead:\n" + "\n".join(wrong)


READS_TEXT = {"compile", "match", "fullmatch", "search", "startswith", "removeprefix"}


def test_no_command_is_parsed_twice():
    """Outside the list none reads the name of a command off a text, and two ask whether a line is one."""
    names = {entry.name.partition(" ")[0] for entry in console.all_commands()}
    wrong, asking = [], []
    for path in SOURCES:
        if module_name(path).startswith("dynascope.console"):
            continue
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr == "asked" and isinstance(node.func.value, ast.Name) and node.func.value.id == "console":
                asking.append(module_name(path))
            texts = [each.value for each in node.args[:1] if isinstance(each, ast.Constant)]
            words = [re.match(r"[^a-z]*([a-z]*)", text.replace(r"\s", "")) for text in texts if isinstance(text, str)]
            if node.func.attr in READS_TEXT and any(word is not None and word[1] in names for word in words):
                wrong.append(where(path, node.lineno, ast.unparse(node)))
    assert not wrong, "\n".join(wrong)
    # the adapter says who answers; the agent knows whether a bare name is a variable of the frame
    assert sorted(asking) == ["dynascope.agent.session.requests.inspection", "dynascope.dap.requests.evaluation"]


def test_files_of_commands_are_imported_by_no_other_module():
    files = tuple(f"dynascope.console.{path.stem}" for path in SOURCES if path.parent.name == "console")
    wrong = [where(path, line, name) for path in SOURCES for line, name in imports(path) if name.startswith(files)]
    assert not wrong, "\n".join(wrong)


def test_what_comes_of_a_graph_break_is_said_in_one_table():
    effects = set(get_args(BreakEffect))
    tables = [
        module_name(path)
        for path in SOURCES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Dict)
        and len(effects & {key.value for key in node.keys if isinstance(key, ast.Constant)}) > 1
    ]
    assert set(tables) == {"dynascope.explain.details"}, tables


def test_what_is_known_of_kinds_of_problems_is_in_one_table():
    tables = {
        module_name(path)
        for path in SOURCES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Dict)
        and len(KINDS.keys() & {key.value for key in node.keys if isinstance(key, ast.Constant)}) > 1
    }
    outside = {name for name in tables if not name.startswith("dynascope.explain.")}
    assert not outside, outside


SAYS_OF_A_COMPILE = re.compile(
    r"\b(?:is|was|be) (?:compiled again|recompiled)|compiled? (?:for|on) (?:each|its own)|breaks? (?:the|a) graph"
    r"|graph ends|(?:rest|function|(?<!when )it|that) runs? uncompiled|fixed to\b|(?:does|do|did) not match"
    r"|guards?\b.{0,25} failed\b|[Cc]ould not compile|Dynamo (?:fixes|gives|makes)\b|The recompile limit is|led to an"
    r"|cannot resume|backend \S+ (?:raised|compiles)|[Nn]othing (?:else )?differs|[Ff]irst difference"
)
"""The verbs with which is said what became of a compile, and why."""
SPEAKS_TOO = {
    "dynascope.facts.recompiles.recompile_reason",
    "dynascope.facts.break_message",
    # what may be asked for, and what filters stop at; not what became of a compile
    "dynascope.agent.session.requests.comparison",
    "dynascope.agent.tracing.what_if.asked",
}


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module with their lines, docstrings apart; `…` stands for what is put into them."""
    nodes = list(ast.walk(tree(path)))
    apart = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    apart |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (each.value if isinstance(each, ast.Constant) else "…" for each in node.values)
            yield node.lineno, "".join(map(str, parts))


def test_what_is_said_of_a_compile_is_said_by_explain_alone():
    """Who needs a sentence about facts asks `explain`; a second place that words them says something else one day."""
    said = [
        (module_name(path), where(path, line, text))
        for path in SOURCES
        for line, text in texts(path)
        if SAYS_OF_A_COMPILE.search(text)
    ]
    assert sum(below(module, ("dynascope.explain",)) for module, _ in said) > 40, "the verbs are those of `explain`"
    wrong = [text for module, text in said if not below(module, {*SPEAKS_TOO, "dynascope.explain"})]
    assert not wrong, "\n".join(wrong)


def test_what_problems_are_worded_from_is_used_by_explain_alone():
    wrong = [
        where(path, line, name)
        for path in SOURCES
        if wing(path) not in ("facts", "explain")
        for line, name in imports(path)
        if name == "dynascope.facts.break_message.consequences"
    ]
    assert not wrong, "\n".join(wrong)


def test_functions_of_these_rooms_say_what_they_wrap_and_since_when():
    """Every public function there has a docstring; one that touches a private name has the torch version it is from."""
    wrong = []
    for path in SOURCES:
        if not below(module_name(path), TORCH_ROOMS):
            continue
        for node in tree(path).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            text = ast.get_docstring(node) or ""
            if not text or (touches_private(node) and not re.search(r"\b[12]\.\d+\b", text)):
                wrong.append(where(path, node.lineno, node.name))
    assert not wrong, "say which torch name these wrap, and since which version:\n" + "\n".join(wrong)


def touches_private(function: ast.FunctionDef) -> bool:
    words = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    words |= {
        part
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and node.module
        for part in node.module.split(".")
    }
    return any(DYNAMO_PRIVATE.fullmatch(word) for word in words)


def test_a_module_is_one_idea():
    wrong = []
    for path in SOURCES:
        text = source(path)
        if (lines := len(text.splitlines())) > 400:
            wrong.append(where(path, lines, "a file that needs a table of contents is two files"))
        if not ast.get_docstring(tree(path)) and text.strip('" \n'):
            wrong.append(where(path, 1, "say what the module is for, in its docstring"))
        if re.search(r"\b(TODO|FIXME|XXX)\b", text):
            wrong.append(where(path, 1, "finish it, or open an issue"))
    assert not wrong, "\n".join(wrong)


def test_a_class_name_stands_once_in_the_house():
    """Whoever meets a name need not ask which of two classes it is; nor is a class imported under a second name."""
    found: dict[str, list[str]] = {}
    renamed = []
    for path in SOURCES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(where(path, node.lineno, node.name))
            elif isinstance(node, ast.ImportFrom) and below(node.module or "", ("dynascope", "dynascope_lsp")):
                renamed += [
                    where(path, node.lineno, f"{each.name} as {each.asname}")
                    for each in node.names
                    if each.asname is not None and each.name.lstrip("_")[:1].isupper()
                ]
    wrong = [place for places in found.values() if len(places) > 1 for place in places]
    assert not wrong + renamed, "\n".join(wrong + renamed)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "adapter"), str(ROOT / "lsp")])}


@pytest.mark.parametrize("part", sorted(MAY_IMPORT.keys() - {"", "agent", "__main__"}))
def test_importing_leaves_torch_alone(part: str):
    """Every module of it: a library that we import must not import torch either."""
    modules = {module_name(path) for path in SOURCES if wing(path) == part and path.name != "__main__.py"}
    code = f"import sys, {', '.join(sorted(modules))}; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=environment())


def test_the_agent_begins_without_torch():
    """What waits for the program's own import of torch must not find torch imported by us."""
    code = "import sys, dynascope.agent.session.startup.bootstrap; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=environment())


def test_the_command_line_starts_quickly():
    """Generous, for a busy machine: without torch this takes a tenth of a second, with it several."""
    code = (
        "import subprocess, sys, time; began = time.perf_counter();"
        "subprocess.run([sys.executable, '-m', 'dynascope', '--version'], check=True);"
        "print(time.perf_counter() - began)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], check=True, timeout=60, env=environment(), capture_output=True, text=True
        )
        for _ in range(3)
    ]
    assert min(float(run.stdout.split()[-1]) for run in runs) < 1.5


def test_the_pictures_of_the_house_are_those_of_the_code():
    text = ARCHITECTURE.read_text()
    assert text == with_pictures(text), "run `make architecture`"


NO_SENTENCE = re.compile(
    r"(The|An?|Of|What|Where|That|Those|These|This|By|All|One|None|How|Why|Every|Its|It|In|On|At|From|For|As|Another|With"
    r"|Without|Whose|Which|Who|Raises|Returns|Names|If|When|Called|Used|Both|Each|Only|Not|Some|Any|There|`\S*|\S+'s) "
)
"""First words of a docstring that is a fragment, or a description where an imperative is wanted."""


def test_docstrings_of_functions_begin_with_a_short_sentence_in_the_imperative():
    wrong = []
    for path in SOURCES:
        for node in ast.walk(tree(path)):
            text = ast.get_docstring(node) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
            if not text:
                continue
            first, paragraph = text.split("\n")[0], text.split("\n\n")[0]
            if NO_SENTENCE.match(first) or len(first) > 90 or not paragraph.rstrip().endswith((".", ":")):
                wrong.append(where(path, node.lineno, first))
    assert not wrong, "say in the imperative, or with `Whether`, what the function does:\n" + "\n".join(wrong)
