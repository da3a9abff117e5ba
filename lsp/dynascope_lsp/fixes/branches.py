"""Replace a branch on a tensor's values by `torch.cond` or `torch.where`.

Both sides are traced then and must give tensors of one type, which is inferred from the recorded types.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from dynascope_lsp.documents.edits import replaced
from dynascope_lsp.documents.syntax import Index
from dynascope_lsp.fixes.checks import check_backward, check_only_compiled, check_plain_tensors
from dynascope_lsp.fixes.effects import is_new, is_only_read, is_pure, loads, may_write, mutates
from dynascope_lsp.fixes.fix import Fix, Refused
from dynascope_lsp.fixes.inference import SMOOTH, TRUTHS, TensorType, called_operation, torch_name
from dynascope_lsp.fixes.place import TracedStatement, check_loop, is_in_loop, place_of
from dynascope_lsp.fixes.two_sides import check_runs_anyway, check_sides
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot

TYPE = "Data-dependent branching"
WHAT_TO_DO = "compute both sides and choose with `torch.where`, or give `torch.cond` two functions of tensors alone."


class Choice(Struct, frozen=True):
    """Two expressions that replace `node`; `target` is "" for `return`, None in an expression."""

    node: ast.stmt | ast.expr
    last: ast.stmt | ast.expr
    test: ast.expr
    body: ast.expr
    orelse: ast.expr | None
    """None: `target` keeps its value."""
    target: str | None
    prefix: str


def fixes(snapshot: Snapshot, finding: Finding) -> Iterator[Fix]:
    if finding.type != TYPE:
        return
    place = place_of(snapshot, finding)
    choice = _choice(place, finding.line)
    found = _type_of(place, choice)
    _check_test(place, choice.test)
    _check_aliases(place, choice)
    kept = ast.copy_location(ast.Name(choice.target or "", ast.Load()), choice.node)
    check_runs_anyway(place, choice.test, (choice.body, choice.orelse or kept))
    check_sides(place, (choice.body, choice.orelse or kept), found)
    check_loop(place)
    check_only_compiled(place)
    check_plain_tensors(place)
    check_backward(place)
    yield Fix("Replace the branch by torch.cond", [_edit(place, choice, _cond(place, choice))])
    if _may_compute_both(place, choice, found):
        sides = [choice.target if each is None else _code(place, each) for each in (choice.body, choice.orelse)]
        where = f"{torch_name(place.index)}.where({_code(place, choice.test)}, {sides[0]}, {sides[1]})"
        yield Fix("Compute both and choose with torch.where", [_edit(place, choice, where)])


def _choice(place: TracedStatement, line: int) -> Choice:
    statement = place.statement
    if isinstance(statement, ast.If) and statement.test.lineno == line:
        return _of_statement(place, statement)
    if isinstance(statement, ast.While):
        raise Refused("Run a fixed number of turns, not a loop that ends when a tensor says so.")
    if isinstance(statement, ast.Assert):
        raise Refused("Assert what is about a tensor's values with `torch._assert_async`, or check before.")
    found = [each for each in ast.walk(statement) if isinstance(each, ast.IfExp) and each.test.lineno == line]
    if len(found) != 1 or not _runs_once(place, found[0]):
        raise Refused(f"This branch has no mechanical replacement: {WHAT_TO_DO}")
    return Choice(found[0], found[0], found[0].test, found[0].body, found[0].orelse, None, "")


def _runs_once(place: TracedStatement, node: ast.expr) -> bool:
    """Whether an expression always runs with its statement, in the function's own frame."""
    each: ast.AST = node
    while not isinstance(each, ast.stmt):
        each = place.index.parents[each]
        if isinstance(each, ast.IfExp | ast.BoolOp | ast.Lambda | ast.comprehension | ast.ListComp | ast.GeneratorExp):
            return False
    return True


def _of_statement(place: TracedStatement, node: ast.If) -> Choice:
    parent = place.index.parents[node]
    is_elif = place.text.line(node.lineno).lstrip().startswith("elif")
    if isinstance(parent, ast.If) and node in parent.orelse and is_elif:
        raise Refused(f"An `elif` runs only when the tests above it fail, which torch.cond would not see: {WHAT_TO_DO}")
    if len(node.body) != 1 or len(node.orelse) > 1:
        raise Refused(f"The branch does more than give one tensor a value: {WHAT_TO_DO}")
    then, otherwise = node.body[0], node.orelse[0] if node.orelse else None
    if isinstance(then, ast.Return):
        following = otherwise or _next(parent, node)
        if not then.value or not isinstance(following, ast.Return) or not following.value:
            raise Refused(f"Only one side returns: {WHAT_TO_DO}")
        return Choice(
            node, following if otherwise is None else node, node.test, then.value, following.value, "", "return "
        )
    target, value = _assignment(then)
    other_target, other_value = _assignment(otherwise) if otherwise is not None else (target, None)
    if target is None or value is None or other_target != target:
        raise Refused(f"The branch does more than give one tensor a value: {WHAT_TO_DO}")
    return Choice(node, node, node.test, value, other_value, target, f"{target} = ")


def _next(parent: ast.AST, node: ast.stmt) -> ast.stmt | None:
    body: list[ast.stmt] = getattr(parent, "body", [])
    return body[body.index(node) + 1] if node in body[:-1] else None


def _assignment(node: ast.stmt) -> tuple[str | None, ast.expr | None]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    return None, None


def _type_of(place: TracedStatement, choice: Choice) -> TensorType:
    """Return the type of both sides. Raises Refused unless it is known and the same."""
    inference = place.inference_before(place.statement)
    found = []
    for side in (choice.body, choice.orelse):
        if side is None:
            found.append(place.types.before(choice.target or "", place.statement))
            continue
        if not is_pure(place.index, place.function, side):
            raise Refused(f"`{_code(place, side)}` may do more than compute a tensor: {WHAT_TO_DO}")
        recorded = place.types.at(side.lineno, choice.target) if choice.target else None
        found.append(inference.tensor(side) or recorded)
    if None in found:
        raise Refused(f"What the two sides give is not known to be tensors of one type: {WHAT_TO_DO}")
    if found[0] != found[1]:
        raise Refused(f"The two sides give tensors of different types, which torch.cond refuses: {WHAT_TO_DO}")
    assert found[0] is not None
    return found[0]


def _check_test(place: TracedStatement, test: ast.expr) -> None:
    """Check that the test is a boolean tensor: `not`, `and`, `or` read its value too early."""
    inferred = place.inference_before(place.statement).tensor(test)
    if inferred is not None and inferred.dtype == "b8":
        return
    pure = is_pure(place.index, place.function, test)
    match test:
        case ast.Compare(ops=[ast.Gt() | ast.Lt() | ast.GtE() | ast.LtE()]) if pure:
            return
        case ast.Call(args=[]) if pure and (called_operation(place.index, test) or ("",))[0] in TRUTHS:
            return
    raise Refused(f"The test is not known to be a tensor of one boolean: {WHAT_TO_DO}")


def _check_aliases(place: TracedStatement, choice: Choice) -> None:
    """Raise Refused where a side is an existing tensor whose copy would behave differently."""
    plain = [each for each in (choice.body, choice.orelse) if each is None or isinstance(each, ast.Name)]
    for each in (choice.body, choice.orelse):
        if isinstance(each, ast.Attribute | ast.Subscript):
            raise Refused(f"`{_code(place, each)}` is a part of something else, not a new tensor: {WHAT_TO_DO}")
    if not plain:
        return
    if choice.target == "" or (isinstance(place.statement, ast.Return) and place.statement.value is choice.node):
        raise Refused(
            f"One side returns a tensor that the caller has, and torch.cond would return a copy: {WHAT_TO_DO}"
        )
    kept = {choice.target if each is None else each.id for each in plain}
    if not (_is_unshared(place, choice, kept) or _is_never_shared(place, choice, kept)):
        raise Refused(
            "One side keeps a tensor that exists already, which something else may have or write "
            f"into, and would not see what becomes of the copy: {WHAT_TO_DO}"
        )


def _is_unshared(place: TracedStatement, choice: Choice, kept: set[str | None]) -> bool:
    """Whether the function has made the tensor that is kept, and has it alone."""
    name = _given_to(choice, place)
    if name is None or kept != {name} or mutates(place.function.node, place.types):
        return False
    before = loads(place.function, name)
    if not is_in_loop(place):
        before = (each for each in before if each.lineno < place.statement.lineno)
    return is_new(place.index, place.function, name) and all(_is_read(place, choice, each) for each in before)


def _is_never_shared(place: TracedStatement, choice: Choice, kept: set[str | None]) -> bool:
    """Whether what the branch gives is only computed with, and nothing is written to."""
    name = _given_to(choice, place)
    if name is None and not (
        isinstance(choice.node, ast.expr) and is_only_read(place.index, place.function, choice.node)
    ):
        return False
    names = {each for each in (name, *kept) if each}
    return not may_write(place.index, place.function, place.types) and all(
        _is_read(place, choice, each) for one in names for each in loads(place.function, one)
    )


def _given_to(choice: Choice, place: TracedStatement) -> str | None:
    """Return the name that is given what the branch chooses; None if there is none."""
    if choice.target is not None:
        return choice.target
    statement = place.statement
    return _assignment(statement)[0] if _assignment(statement)[1] is choice.node else None


def _is_read(place: TracedStatement, choice: Choice, node: ast.Name) -> bool:
    return node in (choice.body, choice.orelse) or is_only_read(place.index, place.function, node)


def _may_compute_both(place: TracedStatement, choice: Choice, found: TensorType) -> bool:
    """Whether the side not chosen is harmless: no error, no infinite gradient times zero."""
    sides = [each for each in (choice.body, choice.orelse) if each is not None]
    inference = place.inference_before(place.statement)
    test = inference.tensor(choice.test)
    if test is None or len(test.sizes) > len(found.sizes):
        return False
    return all(inference.tensor(each) is not None and _is_smooth(place.index, each) for each in sides)


def _is_smooth(index: Index, node: ast.expr) -> bool:
    for each in ast.walk(node):
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Div):
            if not (isinstance(each.right, ast.Constant) and each.right.value):
                return False
        elif isinstance(each, ast.Call):
            operation = called_operation(index, each)
            if operation is None or operation[0] not in SMOOTH | {"sum", "mean", "clamp", "zeros_like", "ones_like"}:
                return False
    return True


def _cond(place: TracedStatement, choice: Choice) -> str:
    """Return the torch.cond call; its operands are the tensors read, the rest is closed over."""
    names: list[str] = []
    for side in (choice.body, choice.orelse):
        read = [choice.target or ""] if side is None else [n.id for n in ast.walk(side) if isinstance(n, ast.Name)]
        names += [name for name in read if place.types.before(name, place.statement) is not None]
    names = list(dict.fromkeys(names))
    parameters = ", ".join(names)
    operands = f"({parameters},)" if len(names) == 1 else f"({parameters})"
    space = " " if parameters else ""
    sides = [f"lambda{space}{parameters}: {_new(place, choice, each)}" for each in (choice.body, choice.orelse)]
    return f"{torch_name(place.index)}.cond({_code(place, choice.test)}, {sides[0]}, {sides[1]}, {operands})"


def _new(place: TracedStatement, choice: Choice, side: ast.expr | None) -> str:
    """Return the source of a side; a plain name is cloned: torch.cond may not return operands."""
    if side is None:
        return f"{choice.target}.clone()"
    return f"{_code(place, side)}.clone()" if isinstance(side, ast.Name) else _code(place, side)


def _edit(place: TracedStatement, choice: Choice, new: str):  # type: ignore[no-untyped-def]
    edit = replaced(place.text, choice.node, choice.prefix + new)
    edit.range.end = place.text.range_of(choice.last).end
    return edit


def _code(place: TracedStatement, node: ast.expr) -> str:
    """Return the source of a node if it is one line, or else unparse it."""
    written = ast.get_source_segment(place.text.source, node)
    return written if written is not None and "\n" not in written else ast.unparse(node)
