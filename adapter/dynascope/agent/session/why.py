"""Answer `why` of the debug console: why code is compiled again, and what helps. On the stopped thread."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.inspection.values.rows import Children, Row, fixed
from dynascope.agent.internals.codegen.generated import compiled_from
from dynascope.agent.internals.compile import compile_context
from dynascope.agent.internals.compile.call import keywords_of
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.resume import name_of
from dynascope.agent.internals.guards.tree import CacheEntry, all_cache_entries, recompile_limits
from dynascope.agent.internals.guards.varying import Neighbours, VaryingGuards
from dynascope.agent.isolation.isolation import as_for_the_call
from dynascope.agent.program.collector import collection_postponed
from dynascope.agent.program.user_code import is_user_code, real_path
from dynascope.agent.session.failed_guards import Failed, FrameStandIn, first_failed
from dynascope.agent.session.tried_remedies import advice
from dynascope.explain import why as says
from dynascope.explain.coming_recompiles import sentence
from dynascope.explain.recompiles import keywords_apart, keywords_since
from dynascope.facts.recompiles.guarded_value import GuardedValue, tells_all_of
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection


def answer(inspection: StopInspection) -> EvaluateResult:
    """Answer for the compile at which the thread is stopped. Raises EvaluationError."""
    if not inspection.symbolic_frames:
        raise EvaluationError(says.NO_COMPILE)
    skipped = inspection.skipped_frame
    if skipped is not None:
        frame = FrameStandIn(skipped.f_code, skipped.f_locals, skipped.f_globals)
    elif inspection.names_of(inspection.frames[0].id) is None:
        raise EvaluationError(says.NO_COMPILE)
    else:
        outermost = inspection.frame(inspection.frames[inspection.symbolic_frames - 1].id)
        known = vars(outermost)
        frame = FrameStandIn(translators.code_of(outermost), known["f_locals"], known["f_globals"], outermost)
    with collection_postponed():
        return inspection.result(_told(inspection, frame))


def _told(inspection: StopInspection, frame: FrameStandIn) -> Row:
    code = compiled_from(frame.f_code)
    name = name_of(code)
    entries = all_cache_entries(code)
    compile_id = compile_context.compile_id_and_attempt()[0]
    rows, failed = [], []
    with as_for_the_call():
        for entry in entries:
            found = first_failed(entry, frame)
            if isinstance(found, Failed):
                failed.append(found)
                if inspection.compiles is not None:  # torch's tree does not tell which line fixed a size
                    fixed_at = inspection.compiles.line_that_fixed(found.compile_id, found.subject.text)
                    found.place = fixed_at or found.place
            rows.append(_entry_row(entry, found))
    if not entries and frame.translator is None:
        raise EvaluationError(says.NO_CODE.format(name=name))
    varying = _varying(frame, compile_id)
    if not entries:
        return _answer(_without_entries(inspection, name, compile_id), varying)
    whole = says.NOT_HERE if frame.translator is None else says.AGAIN
    rows += _differing(inspection, compile_id, frame, failed)
    rows += _remedies(inspection, frame, failed)
    if frame.translator is not None:
        rows.append(Row("instead", says.INSTEAD))
    same, most, most_in_all = recompile_limits(code, SimpleNamespace(f_locals=frame.f_locals))
    this = frame.translator is not None
    rows.append(Row("limit", says.limit(same + this, most, len(entries) + this, most_in_all)))
    return _answer(whole.format(name=name, id=compile_id), [*rows, *varying])


def _answer(first: str, rows: list[Row]) -> Row:
    text = "\n".join([first, *(f"{row.name}: {row.value}" for row in rows)])
    return Row("", text, children=Children(named=fixed(rows)) if rows else None)


def _without_entries(inspection: StopInspection, name: str, compile_id: str) -> str:
    earlier = inspection.compiles.earlier() if inspection.compiles is not None else None
    if earlier is None and compile_id.endswith("/0"):
        return says.FIRST.format(name=name)
    return says.NONE_LEFT.format(name=name, id="" if earlier is None else f" [{earlier}]")


def _entry_row(entry: CacheEntry, found: Failed | str) -> Row:
    if isinstance(found, str):
        return Row(entry.compile_id, found)
    where = says.needs(found.place, found.whole, found.subject.kind == "global state")
    rows = fixed([Row("guard", found.guard), Row("line", where, made_at=found.place)])
    return Row(entry.compile_id, f"{found.told} ({where}).", children=Children(named=rows), made_at=found.place)


def _varying(frame: FrameStandIn, compile_id: str) -> list[Row]:
    """Return the guards of this compile, as far as it is traced, that will fail later."""
    if frame.translator is None:
        return []
    guards = VaryingGuards(translators.output_of(frame.translator), real_path, is_user_code)
    beside = guards.different_beside(compile_id, Neighbours())
    found = [*guards.set_by_the_call(), *guards.marked(), *beside]
    rows = []
    for each in found:
        place = (each.path, each.line) if each.path else None
        text = f"{sentence(each).removesuffix('.')} ({says.needs(place)})."
        rows.append(Row("will vary", text, made_at=place))
    return rows


# ---- what differs, what helps, the limit


def _differing(inspection: StopInspection, compile_id: str, frame: FrameStandIn, failed: list[Failed]) -> list[Row]:
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


def _remedies(inspection: StopInspection, frame: FrameStandIn, failed: list[Failed]) -> list[Row]:
    """Return the advice on each value that changed, and what a trace with it comes to."""
    by_subject: dict[GuardedValue, list[Failed]] = {}
    for each in failed:
        by_subject.setdefault(each.subject, []).append(each)
    rows = [row for subject, same in by_subject.items() for row in advice(inspection, frame, subject, same)]
    return list({(row.name, row.value): row for row in rows}.values())
