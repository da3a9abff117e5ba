"""Show the selected frame's scopes and variables, and evaluate expressions."""

from __future__ import annotations

from dynascope import console
from dynascope.terminal.client import CommandError
from dynascope.terminal.commands import command
from dynascope.terminal.printing import is_symbolic
from dynascope.terminal.selection import PAGE
from dynascope.terminal.session import TerminalSession
from dynascope.wire.dap import Scope, Variable

_DEBUGPY_GROUPS = {"special variables", "function variables", "class variables", "protected variables"}


@command("scopes", needs_stop=True)
def scopes(session: TerminalSession, argument: str) -> None:
    """List the scopes of this frame."""
    for scope in session.scopes():
        count = (scope.named_variables or 0) + (scope.indexed_variables or 0)
        session.printer.say(f"  {scope.name}" + (f"  ({count})" if count else ""))


def _scope_command(scope: str, help_text: str, *names: str) -> None:
    def show(session: TerminalSession, argument: str) -> None:
        show_scope(session, scope, argument)

    show.__doc__ = f"{help_text}\n\nWith TEXT, show only the rows that contain it."
    command(*names, usage="[TEXT]", needs_stop=True)(show)


_SCOPES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("Locals", ("locals",), "Show the local variables; at compile time, tensors as FX writes them: f32[s0, 16]."),
    ("Closure", ("closure",), "Show the variables of enclosing functions."),
    ("Globals", ("globals",), "Show the globals the code names."),
    ("Value Stack", ("stack",), "Show Dynamo's value stack, as the bytecode sees it."),
    ("Shapes", ("shapes",), "Show the shape symbols: hint, range, source, replacements, constraints."),
    ("Graph", ("graph",), "Show the FX graph so far."),
    (
        "Codegen",
        ("codegen",),
        "Where a graph has ended (`catch codegen`): show the values restored around it, and the code for it.",
    ),
    ("Compile", ("compile",), "Show this compile: id, attempt, backend, reason, and changed config values."),
    ("Inputs", ("inputs",), "In a backward: show the inputs of its graph."),
    ("Sizes", ("sizes",), "In a backward: show the sizes that are inputs of its graph."),
    ("Scalars", ("scalars",), "In a backward: show the numbers that are inputs of its graph."),
    ("Hooks", ("hooks",), "In a backward: show the hooks that it calls."),
    ("Saved Tensors", ("saved",), "In a backward: show the tensors that the forward has saved for this node."),
    ("Forward", ("forward",), "In a backward: show the line of the forward that created this node."),
    ("Passes", ("passes",), "In a backward: show what each pass has done to its graph, after the last node."),
)
for _title, _names, _help in _SCOPES:
    _scope_command(_title, _help, *_names)


@command("print", "p", "!", usage="EXPRESSION", needs_stop=True, missing="print what? `print EXPRESSION`")
def print_(session: TerminalSession, argument: str) -> None:
    """Evaluate in the selected frame; at compile time on fakes, changing nothing.

    At compile time `ctx` is the frame's ComptimeContext.
    """
    result = session.evaluate(argument)
    session.printer.say(result.result if result.result or not result.type else result.type)


@command(
    "expand",
    "x",
    usage="EXPRESSION | SCOPE/NAME/… [FIRST:LAST]",
    needs_stop=True,
    missing="expand what? `expand EXPRESSION`, or `expand SCOPE/NAME`",
)
def expand(session: TerminalSession, argument: str) -> None:
    """Show the children of an expression, or of a row by its path: `expand Guards/x`.

    FIRST:LAST slices the elements as in Python; without it, the attributes and the first elements are shown.
    """
    text, page = _page(argument)
    value, reference, elements = _resolve(session, text)
    if not reference:
        session.printer.say(f"{value}  (no children)")
        return
    if value:
        session.printer.say(value)
    start, count = page or (0, PAGE)
    rows = session.children(reference, start, count, "indexed") if elements or page else []
    if elements and not page:
        rows = [*session.children(reference, 0, PAGE, "named"), *rows]
    elif not elements and not rows:
        rows = session.children(reference, start, count)  # debugpy does not count elements, and scopes have none
    more = elements > start + count if elements else len(rows) == count
    show_rows(session, rows, start + count if more else None)


def show_scope(session: TerminalSession, name: str, text: str = "") -> None:
    """Print the first page of a scope, or its rows with `text`. Raises CommandError."""
    scope = _scope(session, name)
    if scope is None:
        frame = session.need_frame()
        part = "Dynamo keeps none here" if is_symbolic(frame) else "the program runs here; Dynamo is not tracing"
        raise CommandError(f"`{frame.name}` has no {name} ({part}){_instead(session)}")
    reference = scope.variables_reference
    if not text:
        rows = session.children(reference)
        show_rows(session, rows, PAGE if len(rows) == PAGE else None)
        return
    rows = session.children(reference, 0, 100 * PAGE)
    rows = [row for row in rows if console.is_with(row, text)]
    show_rows(session, rows)


def _instead(session: TerminalSession) -> str:
    """Return a hint at the scopes of a frame without locals, such as a node of a backward."""
    names = [scope.name for scope in session.scopes()]
    return "" if not names or "Locals" in names else f"; it has {', '.join(names)}: `expand {names[0]}`"


def local_names(session: TerminalSession) -> list[str]:
    """Return the names of the selected frame's locals, for completion; [] without a frame."""
    try:
        scope = _scope(session, "Locals")
        return [variable.name for variable in session.children(scope.variables_reference)] if scope else []
    except CommandError:
        return []


def show_rows(session: TerminalSession, children: list[Variable], rest: int | None = None) -> None:
    """Print rows; `rest` is the number of the first one that is missing, None if none is."""
    rows = [row for row in children if row.name not in _DEBUGPY_GROUPS]
    if not rows:
        session.printer.say("  (empty)", "dim")
    session.printer.variables(rows)
    if rest is not None:
        session.printer.say(f"  … there may be more: `expand … {rest}:{rest + PAGE}`", "dim")


def _scope(session: TerminalSession, name: str) -> Scope | None:
    return next((scope for scope in session.scopes() if scope.name.casefold() == name.casefold()), None)


def _page(argument: str) -> tuple[str, tuple[int, int] | None]:
    """Return the text without its slice, and the slice's first row and count, or None."""
    text, _, last = argument.rpartition(" ")
    first, colon, end = last.partition(":")
    if text and colon and first.isdecimal() and end.isdecimal() and int(end) > int(first):
        return text.strip(), (int(first), int(end) - int(first))
    return argument.strip(), None


def _resolve(session: TerminalSession, text: str) -> tuple[str, int, int]:
    """Return value, reference and number of elements of a path in a scope, or of an expression."""
    head, _, rest = text.partition("/")
    scope = _scope(session, head)
    if scope is not None:
        value, reference, elements = "", scope.variables_reference, scope.indexed_variables or 0
        while rest:
            # names can contain slashes (`L['a/b']`): the longest child name that matches is taken
            children = session.children(reference, 0, 10 * PAGE)
            fitting = [child for child in children if rest == child.name or rest.startswith(child.name + "/")]
            if not fitting:
                raise CommandError(f"there is no `{rest}` below `{text[: -len(rest)].rstrip('/')}`")
            chosen = max(fitting, key=lambda child: len(child.name))
            value, reference, rest = chosen.value, chosen.variables_reference, rest[len(chosen.name) + 1 :]
            elements = chosen.indexed_variables or 0
        return value, reference, elements
    result = session.evaluate(text)
    return result.result, result.variables_reference, result.indexed_variables or 0
