"""The rules that keep the house a house (CONTRIBUTING.md, "House rules"), read off the source itself."""

from __future__ import annotations

import ast
import graphlib
import io
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [*sorted((ROOT / "adapter").rglob("*.py")), *sorted((ROOT / "lsp").rglob("*.py"))]
INTERNALS = ROOT / "adapter/dynascope/agent/internals"
PYDEVD = {
    ROOT / "adapter/dynascope/agent/suspension/pydevd.py",
    ROOT / "adapter/dynascope/agent/program/hidden_threads.py",
}

# What each wing, and each module beside them, may import of ours, itself apart.
MAY_IMPORT: dict[str, set[str]] = {
    "wire": set(),
    "facts": set(),
    "debugpy_adapter": {"dynascope.wire"},
    "agent": {"dynascope.wire", "dynascope.facts", "dynascope.debugpy_adapter"},
    "dap": {"dynascope.wire", "dynascope.facts", "dynascope.debugpy_adapter"},
    "dynascope_lsp": {"dynascope.wire", "dynascope.facts", "dynascope.__version__"},
    "report": {"dynascope.facts"},
    "recording": {"dynascope.facts"},
    "terminal": {"dynascope.wire", "dynascope.dap.protocol"},
    "": {"dynascope.agent"},
    "compiled_autograd": {"dynascope.agent"},
    "autoload": {"dynascope.agent"},
    "cli": {"dynascope.dap.server", "dynascope_lsp.server"},
    "__main__": {"dynascope.cli"},
}
# The rooms of the two large wings, from the top floor down: which rooms each may import. Never one of its own floor.
ROOMS: dict[str, list[dict[str, str]]] = {
    "agent": [
        {
            "startup": "session recorder suspension program",
            "api": "session inspection internals program",
        },
        {
            "session": "backward exception_filters breakpoints tracing stops inspection suspension recorder documents"
            " internals program",
        },
        {
            "backward": "breakpoints tracing stops inspection suspension internals program",
            "exception_filters": "breakpoints tracing stops inspection internals program",
        },
        {"breakpoints": "tracing stops inspection suspension documents internals program"},
        {"tracing": "stops inspection suspension internals program"},
        {"stops": "suspension documents program"},
        {
            "inspection": "internals program",
            "suspension": "internals program",
            "recorder": "internals program",
            "documents": "internals program",
        },
        {"internals": "", "program": ""},
    ],
    "dap": [
        {"server": "serving session program client protocol log"},
        {"serving": "requests session protocol log"},
        {"requests": "session breakpoints program agent_channel protocol"},
        {"session": "breakpoints program client protocol"},
        {"breakpoints": "program client protocol log"},
        {"program": "agent_channel client protocol log"},
        {"agent_channel": "protocol", "client": "protocol"},
        {"protocol": "", "log": ""},
    ],
}
# Sent to the program and run there, so that its import of the agent happens in the program's interpreter.
RUNS_IN_THE_PROGRAM = {"dynascope.dap.program.injected_source"}
# The Python API: its functions run in the program and open the agent on first use. Importing it must not import torch.
ENTRY_POINTS = {"dynascope"}

# Names of Dynamo's that nobody could mistake for one of ours.
DYNAMO_PRIVATE = re.compile(
    r"_dynamo|_guards|_inductor|_subclasses|_export|symbolic_(locals|globals|stack|convert)|push_tx|pop_tx"
    r"|_current_tx|backed_var_to_val|var_to_(val|range)|current_instruction|instruction_pointer"
    r"|InstructionTranslator\w*|OutputGraph|CatchErrorsWrapper|\w*VariableTracker|SpeculationRestartAnalysis"
)
PYDEVD_NAME = re.compile(r"_?pydevd?_\w+|_pydev\w*|PyDB")


def module_name(path: Path) -> str:
    base = ROOT / ("adapter" if (ROOT / "adapter") in path.parents else "lsp")
    parts = list(path.relative_to(base).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def wing(path: Path) -> str:
    parts = module_name(path).split(".")
    return parts[0] if parts[0] == "dynascope_lsp" else (parts[1] if len(parts) > 1 else "")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything imported, inside functions too."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            origin = ".".join(part for part in (base, node.module) if part)
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)


def below(name: str, packages: set[str] | tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def private_names(path: Path) -> Iterator[tuple[int, str]]:
    """Attributes and imports of Dynamo's own; strings and comments may speak of them."""
    for line, name in imports(path):
        if below(name, ("torch",)) and any(DYNAMO_PRIVATE.fullmatch(part) for part in name.split(".")):
            yield line, name
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and DYNAMO_PRIVATE.fullmatch(node.attr):
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if not own:
                yield node.lineno, node.attr


def identifiers(path: Path) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string


def where(path: Path, line: int, what: str) -> str:
    return f"{path.relative_to(ROOT)}:{line}: {what}"


def test_wings_import_only_what_they_stand_on():
    wrong = []
    for path in SOURCES:
        here = wing(path)
        if module_name(path) in RUNS_IN_THE_PROGRAM:
            continue
        assert here in MAY_IMPORT, f"say in MAY_IMPORT what {here} may import of ours"
        own = here if here == "dynascope_lsp" else f"dynascope.{here}"
        for line, name in imports(path):
            if below(name, ("dynascope", "dynascope_lsp")) and not below(name, MAY_IMPORT[here] | {own}):
                wrong.append(where(path, line, f"{here} imports {name}"))
    assert not wrong, "\n".join(wrong)


def room(name: str, of: str) -> str:
    """The room of wing `of` that a module is in: `dynascope.agent.stops.stop` → `stops`."""
    return name.removeprefix(f"dynascope.{of}").lstrip(".").partition(".")[0]


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
    used: dict[str, set[str]] = {name: set() for name in allowed}
    for path in SOURCES:
        here = room(module_name(path), of) if wing(path) == of else ""
        if not here:
            continue
        assert here in allowed, f"say in ROOMS which floor of {of} {here} is on"
        for line, name in imports(path):
            other = room(name, of) if below(name, (f"dynascope.{of}",)) else ""
            if other in allowed and other != here:
                used[here].add(other)
                if other not in allowed[here]:
                    wrong.append(where(path, line, f"{here} imports {other}"))
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


def test_only_internals_name_what_is_private_to_dynamo():
    wrong = [
        where(path, line, name)
        for path in SOURCES
        if INTERNALS not in path.parents and module_name(path) not in ENTRY_POINTS
        for line, name in private_names(path)
    ]
    assert not wrong, "\n".join(wrong)


def test_only_the_suspension_and_hidden_threads_name_pydevd():
    wrong = [
        where(path, line, name)
        for path in SOURCES
        if path not in PYDEVD
        for line, name in [*identifiers(path), *imports(path)]
        if PYDEVD_NAME.fullmatch(name.partition(".")[0])
    ]
    assert not wrong, "\n".join(wrong)


def test_functions_of_internals_say_what_they_wrap_and_since_when():
    """Every public function there has a docstring; one that touches a private name has the torch version it is from."""
    wrong = []
    for path in SOURCES:
        if INTERNALS not in path.parents:
            continue
        for node in ast.parse(path.read_text()).body:
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


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_one_idea(path: Path):
    text = path.read_text()
    assert len(text.splitlines()) <= 400, "a file that needs a table of contents is two files"
    assert ast.get_docstring(ast.parse(text)) or not text.strip('" \n'), "say what the module is for, in its docstring"
    assert not re.search(r"\b(TODO|FIXME|XXX)\b", text), "finish it, or open an issue"


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
    code = "import sys, dynascope.agent.startup.bootstrap; sys.exit('torch' in sys.modules)"
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
