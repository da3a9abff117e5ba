"""The extension of IPython: `%load_ext dynascope`, then `%%dynascope` records a cell, `%dynascope attach` debugs one.

Cells have IPython's numbers wherever a file is named: `In [3]:5`. Lines count from the line of `%%dynascope`, as the
notebook numbers them.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dynascope.agent.program import this_process
from dynascope.explain.kinds import KINDS
from dynascope.explain.problem import Problem
from dynascope.facts.file_names import given_name, name_files
from dynascope.in_process.record import record
from dynascope.in_process.recording import Recording, store_of
from dynascope.wire.attach_configuration import how_to_attach

_COLOURS = {"error": "#d1242f", "warning": "#9a6700"}
_OTHERS = "#57606a"
_USAGE = (
    "%%dynascope [--graphs] above the code of a cell, or %dynascope attach; where a cell is stopped, from a subshell: "
    "%dynascope where, locals, guards, or another command of the debug console"
)


def load(shell: Any, listen: Callable[[], tuple[str, int]]) -> None:
    """Add the magics to a shell of IPython.

    It is an `IPython.core.interactiveshell.InteractiveShell`; `listen` is `dynascope.listen`.
    """
    from IPython.core.magic import no_var_expand

    name_files(lambda path: _cell(shell, path))
    if _is_kernel(shell):  # its command line is nothing that a user has typed
        this_process.named_by([os.path.basename(os.environ.get("JPY_SESSION_NAME") or "notebook")])

    def record_cell(line: str, cell: str) -> None:
        """Record what the cell compiles, as `trace`; `--graphs` keeps the graphs' code."""
        __tracebackhide__ = True
        options = line.split()
        if options not in ([], ["--graphs"]):
            _refuse(f"There is no option {line.strip()!r}. {_USAGE}")
        # lines count from the magic's, and IPython removes empty ones; another magic has to come first
        code = cell if cell.startswith("%%") else f"# %%dynascope {line}\n{cell}"
        if shell.should_run_async(code, transformed_cell=shell.transform_cell(code)):
            _refuse(
                "A cell with `await` outside of functions cannot be recorded: use `with dynascope.record() as trace:`"
            )
        number = len(shell.user_ns["In"]) - 1
        with _numbered(shell.compile, number), record(graphs=bool(options)) as trace:
            result = shell.run_cell(code)
        shell.user_ns["trace"] = trace
        _show(shell, trace, code, f"In [{number}]")
        error = result.error_before_exec or result.error_in_exec
        if error is not None:  # its traceback is shown already; the cells below are not to be run
            _refuse(f"the cell raised {type(error).__name__}")

    def ask(line: str) -> None:
        """Let a debugger attach to this kernel (`attach`), or tell what is at a stop (`locals`)."""
        if line.split() == ["attach"]:
            host, port = listen()
            print(how_to_attach(host, port, "Attach to the Notebook"))
            return
        if not line.strip():
            _refuse(_USAGE)
        _ask_at_stops(line)

    shell.register_magic_function(record_cell, "cell", "dynascope")
    # braces in an expression are the stop's to evaluate
    shell.register_magic_function(no_var_expand(ask), "line", "dynascope")


def _ask_at_stops(line: str) -> None:
    from dynascope.agent.session.api.at_stop import NotAnswered
    from dynascope.in_process.at_stop import told

    refusal = ""
    try:
        print(told(line))
    except NotAnswered as error:
        refusal = str(error)
    if refusal:  # outside of `except`: the shell keeps the last error, and with it what that is a context of
        _refuse(refusal)


@contextmanager
def _numbered(compiler: Any, number: int) -> Iterator[None]:
    """Let code that is run within a cell have the cell's number.

    IPython 9 gives it that of the next cell. `compiler` is an `IPython.core.compilerop.CachingCompiler`, the method
    `cache` of which names code (IPython 8.0).
    """
    cache = compiler.cache
    compiler.cache = lambda code, _=0, **more: cache(code, number, **more)
    try:
        yield
    finally:
        del compiler.cache


def _is_kernel(shell: Any) -> bool:
    return getattr(shell, "kernel", None) is not None


def _cell(shell: Any, path: str) -> str | None:
    """Return `In [3]` for the file of a cell, or None.

    Calls `IPython.core.compilerop.CachingCompiler.format_code_name` (IPython 8.0).
    """
    found = shell.compile.format_code_name(path)
    return found[1].replace("In[", "In [") if found else None


def _refuse(text: str) -> None:
    """Raise an error that IPython shows without a traceback."""
    from IPython.core.error import UsageError

    raise UsageError(text)


def _show(shell: Any, trace: Recording, cell: str, name: str) -> None:
    """Print what to mend first.

    Where a notebook shows pages, the cell with its marked lines and the report come below.
    """
    print(trace)
    if not _is_kernel(shell) or not trace.counts()["compiles"]:
        return
    from IPython.display import HTML, display

    with store_of(trace).reading() as (_, summary):
        marked = _marked(cell, name, summary.problems)
    display(HTML(marked + f"<details><summary>Report</summary>{trace._repr_html_()}</details>"))


def _marked(cell: str, name: str, problems: list[Problem]) -> str:
    """Return the lines of the cell as HTML, each with its problems; "" without such."""
    found: dict[int, list[Problem]] = {}
    for each in problems:
        if given_name(each.place.path) == name:
            found.setdefault(each.place.line, []).append(each)
    if not found:
        return ""
    rows = []
    for number, line in enumerate(cell.splitlines()[1:], 2):
        told = "".join(map(_mark, found.get(number, ())))
        rows.append(f"{number:4}  {html.escape(line)}{told}")
    return f"<pre>{chr(10).join(rows)}</pre>"


def _mark(problem: Problem) -> str:
    colour = _COLOURS.get(KINDS[problem.kind].severity, _OTHERS)
    return f'  <span style="color:{colour}">◂ {html.escape(problem.title)}</span>'
