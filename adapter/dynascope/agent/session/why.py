"""Answer `why` of the debug console: why code is compiled again, and what helps. On the stopped thread."""

from __future__ import annotations

import types
from pathlib import PurePath
from types import SimpleNamespace
from typing import TYPE_CHECKING

from dynascope.agent.inspection.values.errors import EvaluationError
from dynascope.agent.inspection.values.rows import Children, Row, fixed
from dynascope.agent.internals.compile import compile_context
from dynascope.agent.internals.compile.call import keywords_of
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.resume import line_of_break, original_code
from dynascope.agent.internals.guards.tree import CacheEntry, all_cache_entries, compiled_code, recompile_limits
from dynascope.agent.internals.guards.varying import Neighbours, VaryingGuards
from dynascope.agent.isolation.isolation import as_for_the_call
from dynascope.agent.program.collector import collection_postponed
from dynascope.agent.program.user_code import is_user_code, real_path
from dynascope.agent.session.failed_guards import Failed, Frame, first_failed
from dynascope.agent.session.tried_remedies import advice
from dynascope.facts.recompiles.guarded_value import GuardedValue, tells_all_of
from dynascope.facts.recompiles.recompile_reason import is_of_zero_and_one, is_range_of_mark
from dynascope.facts.recompiles.story import keywords_apart, keywords_since
from dynascope.facts.recompiles.varying import sentence
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_NO_COMPILE = "`why` is answered where Dynamo compiles a function, and it does not at this stop."
_FIRST = "This is the first compile of {name}."
_NONE_LEFT = (
    "{name} was compiled before{id}, but no code of it is left: torch._dynamo.reset() has dropped it, or the compile "
    "did not finish."
)
_RESUMES = "This is the rest of {name}, after the graph break in line {line}."
_NOT_KNOWN = "which line needs this is not known"
_AMBIENT = "every compile has this guard"
_OF_MARK = "no line needs this: it is the range of the mark"
_ZERO_OR_ONE = "no line needs this: Dynamo compiles 0 and 1 by themselves"
_EQUAL_THEN = "no line needs this: the sizes were equal then, so Dynamo took one symbol for them"
_LIMIT = (
    "{count} of {limit} compiles (torch._dynamo.config.recompile_limit{others}). After that, calls that no compiled "
    "code fits run uncompiled, or raise with fullgraph=True."
)
_INSTEAD = (
    'With `torch.compiler.set_stance("eager_on_recompile")` before it this call runs uncompiled, with '
    '"fail_on_recompile" it raises; the code that there is stays in use.'
)
_OTHERS = "; with those for other objects {total}, of at most {most}"


def answer(inspection: StopInspection) -> EvaluateResult:
    """Answer for the compile at which the thread is stopped. Raises EvaluationError."""
    if not inspection.symbolic_frames:
        raise EvaluationError(_NO_COMPILE)
    skipped = inspection.skipped_frame
    if skipped is not None:
        frame = Frame(skipped.f_code, skipped.f_locals, skipped.f_globals)
    elif inspection.names_of(inspection.frames[0].id) is None:
        raise EvaluationError(_NO_COMPILE)
    else:
        outermost = inspection.frame(inspection.frames[inspection.symbolic_frames - 1].id)
        known = vars(outermost)
        frame = Frame(translators.code_of(outermost), known["f_locals"], known["f_globals"], outermost)
    with collection_postponed():
        return inspection.result(_told(inspection, frame))


def _told(inspection: StopInspection, frame: Frame) -> Row:
    code = compiled_code(frame.f_code)
    name, line = original_code(code).co_name, line_of_break(code)
    entries = all_cache_entries(code)
    compile_id = compile_context.compile_id_and_attempt()[0]
    rows, failed = [], []
    with as_for_the_call():
        for entry in entries:
            found = first_failed(entry, frame)
            if isinstance(found, Failed):
                failed.append(found)
                found.place = _line_that_fixed(inspection, found) or found.place
            rows.append(_entry_row(entry, found))
    intro = _RESUMES.format(name=name, line=line) if line is not None else ""
    if not entries and frame.translator is None:
        raise EvaluationError(f"{name} has no compiled code, and Dynamo does not compile it here.")
    varying = _varying(frame, compile_id)
    if not entries:
        first = " ".join(filter(None, (intro, _without_entries(inspection, name, compile_id))))
        return _answer([first], varying)
    whole = (
        f"{name} is compiled again [{compile_id}]:" if frame.translator is not None else f"{name} is not compiled here:"
    )
    rows += _differing(inspection, compile_id, frame, failed)
    rows += _remedies(inspection, frame, failed)
    if frame.translator is not None:
        rows.append(Row("instead", _INSTEAD))
    rows.append(Row("limit", _limit(code, len(entries), frame)))
    return _answer([*filter(None, (intro, whole))], [*rows, *varying])


def _answer(lines: list[str], rows: list[Row]) -> Row:
    text = "\n".join([*lines, *(f"{row.name}: {row.value}" for row in rows)])
    return Row("", text, children=Children(named=fixed(rows)) if rows else None)


def _without_entries(inspection: StopInspection, name: str, compile_id: str) -> str:
    earlier = inspection.compiles.earlier() if inspection.compiles is not None else None
    if earlier is None and compile_id.endswith("/0"):
        return _FIRST.format(name=name)
    return _NONE_LEFT.format(name=name, id="" if earlier is None else f" [{earlier}]")


def _line_that_fixed(inspection: StopInspection, failed: Failed) -> tuple[str, int] | None:
    """Return the line that fixed the size that the guard is on; torch's tree does not tell it."""
    if inspection.compiles is None:
        return None
    place: tuple[str, int] | None = inspection.compiles.line_that_fixed(failed.compile_id, failed.subject.text)
    return place


def _entry_row(entry: CacheEntry, found: Failed | str) -> Row:
    if isinstance(found, str):
        return Row(entry.compile_id, found)
    where = _NOT_KNOWN
    if is_range_of_mark(found.whole):
        where = _OF_MARK
    elif is_of_zero_and_one(found.whole):
        where = _ZERO_OR_ONE
    elif found.place is not None:
        where = f"{PurePath(found.place[0]).name}:{found.place[1]} needs this"
    elif found.subject.kind == "global state" or "init_ambient_guards" in found.whole:
        where = _AMBIENT
    elif "duck sizing" in found.whole:
        where = _EQUAL_THEN
    rows = fixed([Row("guard", found.guard), Row("line", where, made_at=found.place)])
    return Row(entry.compile_id, f"{found.told} ({where}).", children=Children(named=rows), made_at=found.place)


def _varying(frame: Frame, compile_id: str) -> list[Row]:
    """Return the guards of this compile, as far as it is traced, that will fail later."""
    if frame.translator is None:
        return []
    guards = VaryingGuards(translators.output_of(frame.translator), real_path, is_user_code)
    beside = guards.different_beside(compile_id, Neighbours())
    found = [*guards.set_by_the_call(), *guards.marked(), *beside]
    rows = []
    for each in found:
        where = f"{PurePath(each.path).name}:{each.line} needs this" if each.path else _NOT_KNOWN
        place = (each.path, each.line) if each.path else None
        rows.append(Row("will vary", f"{sentence(each).removesuffix('.')} ({where}).", made_at=place))
    return rows


# ---- what differs, what helps, the limit


def _differing(inspection: StopInspection, compile_id: str, frame: Frame, failed: list[Failed]) -> list[Row]:
    """Return the arguments that differ and of which no guard that failed has told."""
    rows, keywords = [], keywords_of(frame.f_code)
    compiles = inspection.compiles
    arguments = compiles.arguments(compile_id) if compiles is not None else {}
    for each in failed:
        earlier = compiles.arguments(each.compile_id) if arguments else {}
        then, now = keywords_apart(keywords, earlier, arguments)
        texts = [
            f"{name} was {then[name]}, and is {after}"
            for name, after in now.items()
            if name in then and then[name] != after and not tells_all_of(each.subject, name, then[name], after)
        ]
        texts += keywords_since(then, now) if keywords in arguments and keywords not in now else []
        if texts:
            rows.append(Row(f"arguments since {each.compile_id}", f"{'; '.join(texts)}."))
    return rows


def _remedies(inspection: StopInspection, frame: Frame, failed: list[Failed]) -> list[Row]:
    """Return the advice on each value that changed, and what a trace with it comes to."""
    by_subject: dict[GuardedValue, list[Failed]] = {}
    for each in failed:
        by_subject.setdefault(each.subject, []).append(each)
    rows = [row for subject, same in by_subject.items() for row in advice(inspection, frame, subject, same)]
    return list({(row.name, row.value): row for row in rows}.values())


def _limit(code: types.CodeType, entries: int, frame: Frame) -> str:
    same, limit, most = recompile_limits(code, SimpleNamespace(f_locals=frame.f_locals))
    this = frame.translator is not None
    others = _OTHERS.format(total=entries + this, most=most) if same != entries else ""
    return _LIMIT.format(count=same + this, limit=limit, others=others)
