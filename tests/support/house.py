"""The house: its wings and rooms, what each may import, and the pictures of them in docs/architecture.md.

`python -m tests.support.house` (`make architecture`) writes the pictures; tests/unit/test_house.py checks the rules.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [*sorted((ROOT / "adapter").rglob("*.py")), *sorted((ROOT / "lsp").rglob("*.py"))]
TORCH_ROOMS = tuple(f"dynascope.agent.{name}" for name in ("internals", "events", "isolation", "speculation"))
"""What reads torch, hears of its calls, keeps it from our acts, and traces on trial."""
PYDEVD = {
    ROOT / "adapter/dynascope/agent/suspension/pydevd.py",
    ROOT / "adapter/dynascope/agent/suspension/debugpy/child_processes.py",
    ROOT / "adapter/dynascope/agent/program/threads.py",
}

# What each wing, and each module beside them, may import of ours, itself apart.
MAY_IMPORT: dict[str, set[str]] = {
    "encodable": set(),
    "processes": set(),
    "rank_names": set(),
    "wire": {"dynascope.encodable", "dynascope.processes"},
    "console": {"dynascope.wire"},
    "facts": {"dynascope.encodable", "dynascope.processes", "dynascope.rank_names"},
    "explain": {"dynascope.facts", "dynascope.rank_names"},
    "debugpy_adapter": {"dynascope.wire", "dynascope.debugpy_injector", "dynascope.debugpy_launcher"},
    "debugpy_injector": set(),
    "debugpy_launcher": set(),
    "agent": {
        "dynascope.rank_names",
        "dynascope.wire",
        "dynascope.console",
        "dynascope.facts",
        "dynascope.explain",
        "dynascope.debugpy_adapter",
    },
    "debugpy_process": set(),
    "dap": {
        "dynascope.encodable",
        "dynascope.wire",
        "dynascope.console",
        "dynascope.facts",
        "dynascope.explain",
        "dynascope.debugpy_adapter",
        "dynascope.debugpy_injector",
        "dynascope.debugpy_process",
    },
    "dynascope_lsp": {
        "dynascope.wire",
        "dynascope.facts",
        "dynascope.explain",
        "dynascope.report",
        "dynascope.__version__",
    },
    "report": {"dynascope.facts", "dynascope.explain"},
    "in_process": {
        "dynascope.agent.program",
        "dynascope.agent.recorder",
        "dynascope.agent.session.api",
        "dynascope.console",
        "dynascope.terminal.printing",
        "dynascope.facts",
        "dynascope.explain",
        "dynascope.report",
        "dynascope.wire",
    },
    "recording": {"dynascope.facts", "dynascope.explain", "dynascope.wire", "dynascope.report"},
    "terminal": {"dynascope.rank_names", "dynascope.wire", "dynascope.console", "dynascope.dap.protocol"},
    "remote": {"dynascope.wire"},
    "mcp": {"dynascope.facts", "dynascope.explain", "dynascope.report", "dynascope.terminal"},
    "": {"dynascope.agent", "dynascope.in_process", "dynascope.report"},
    "pytest_plugin": {
        "dynascope",
        "dynascope.in_process",
        "dynascope.agent.recorder",
        "dynascope.explain",
        "dynascope.report",
    },
    "pytest_debugging": {"dynascope", "dynascope.agent.session", "dynascope.explain"},
    "compiled_autograd": {"dynascope.agent"},
    "autoload": {"dynascope.agent"},
    "cli": {"dynascope.dap.server", "dynascope.debugpy_process", "dynascope_lsp.server"},
    "__main__": {"dynascope.cli"},
}
# The rooms of the three large wings, from the top floor down: which rooms each may import. Never one of its own floor.
ROOMS: dict[str, list[dict[str, str]]] = {
    "agent": [
        {
            "session": "backward exception_filters breakpoints tracing tape inspection suspension recorder ranks"
            " documents speculation events isolation internals program",
        },
        {
            "backward": "breakpoints inspection suspension events isolation internals program",
            "exception_filters": "breakpoints tracing ranks inspection suspension events internals program",
        },
        {
            "breakpoints": "tracing inspection suspension documents speculation events isolation internals program",
            "recorder": "documents ranks tape inspection speculation events isolation internals program",
        },
        {
            "tracing": "tape inspection suspension speculation events isolation internals program",
            "documents": "speculation events internals program",
            "ranks": "events internals program",
        },
        {"tape": "inspection events internals program"},
        {
            "inspection": "isolation internals program",
            "suspension": "isolation internals program",
            "speculation": "events isolation internals program",
        },
        {"events": "internals program", "isolation": "internals program"},
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
    "dynascope_lsp": [
        {"server": "serving protocol"},
        {"serving": "features registry session protocol"},
        {"features": "registry session explorer fixes recorded documents trials settings"},
        {"registry": "session"},
        {"session": "prediction recorded documents trials settings"},
        {"explorer": "", "fixes": "recorded documents", "prediction": "recorded documents"},
        {"recorded": "documents settings", "protocol": "documents"},
        {"documents": "", "settings": "", "trials": ""},
    ],
}
# Sent to the program and run there, so that its import of the agent happens in the program's interpreter; and what
# answers the commands of the debug console, which the agent runs, while everyone reads their names and help.
RUNS_IN_THE_PROGRAM = {
    "dynascope.dap.program.injected_source",
    *(f"dynascope.console.{path.stem}" for path in (ROOT / "adapter/dynascope/console").glob("[a-z]*.py")),
}
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


@functools.cache
def source(path: Path) -> str:
    return path.read_text()


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(source(path))


@functools.cache
def imports(path: Path) -> list[tuple[int, str]]:
    """Return line and full name of everything imported, inside functions too."""
    return list(_imports(path))


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(tree(path)):
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
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute) and DYNAMO_PRIVATE.fullmatch(node.attr):
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if not own:
                yield node.lineno, node.attr


def identifiers(path: Path) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source(path)).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string


def where(path: Path, line: int, what: str) -> str:
    return f"{path.relative_to(ROOT)}:{line}: {what}"


def package(of: str) -> str:
    return of if of == "dynascope_lsp" else f"dynascope.{of}"


def room(name: str, of: str) -> str:
    """The room of wing `of` that a module is in: `dynascope.agent.tracing.hook` → `tracing`."""
    return name.removeprefix(package(of)).lstrip(".").partition(".")[0]


def rooms_used(of: str) -> dict[str, set[str]]:
    """Return the rooms that each room of wing `of` imports."""
    rooms = {name for floor in ROOMS[of] for name in floor}
    used: dict[str, set[str]] = {name: set() for name in rooms}
    for path in SOURCES:
        here = room(module_name(path), of) if wing(path) == of else ""
        if here in rooms:
            others = {room(name, of) for _, name in imports(path) if below(name, (package(of),))}
            used[here] |= (others & rooms) - {here}
    return used


def wings_used() -> dict[str, set[str]]:
    """Return the wings that each wing imports; single modules of the package aside."""
    packages = {wing(path) for path in SOURCES if path.name == "__init__.py"} - {""}
    used: dict[str, set[str]] = {name: set() for name in packages}
    for path in SOURCES:
        if wing(path) in packages and module_name(path) not in RUNS_IN_THE_PROGRAM:
            for _, name in imports(path):
                parts = name.split(".")
                other = parts[0] if parts[0] == "dynascope_lsp" else parts[1] if parts[0] == "dynascope" else ""
                used[wing(path)] |= {other} & packages - {wing(path)}
    return used


def direct(used: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the graph without the arrows that a longer way implies (its transitive reduction)."""

    def reached(name: str) -> set[str]:
        return used[name].union(*(reached(other) for other in used[name]))

    return {name: others - set().union(*(reached(other) for other in others)) for name, others in used.items()}


def picture(used: Mapping[str, set[str]]) -> str:
    """Return a Mermaid flowchart; an arrow means "imports", and everything below may be imported as well."""
    arrows = [f"    {name} --> {other}" for name, others in sorted(direct(used).items()) for other in sorted(others)]
    return "\n".join(["```mermaid", "flowchart TD", *arrows, "```"])


PICTURES = {
    "wings": lambda: picture(wings_used()),
    "agent": lambda: picture(rooms_used("agent")),
    "dap": lambda: picture(rooms_used("dap")),
    "dynascope_lsp": lambda: picture(rooms_used("dynascope_lsp")),
}
ARCHITECTURE = ROOT / "docs" / "architecture.md"


def with_pictures(text: str) -> str:
    """Return the page with each picture, between its two comments, as the code is now."""
    for name, draw in PICTURES.items():
        begin, end = f"<!-- picture: {name} -->", f"<!-- end: {name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{draw()}\n{end}{after}"
    return text


if __name__ == "__main__":
    ARCHITECTURE.write_text(with_pictures(ARCHITECTURE.read_text()))
