"""Problems are made of facts in memory, too: equal ones are one, with ids that outlive edits and titles that fit."""

from __future__ import annotations

from typing import Literal, get_args, get_origin

import pytest
from dynascope.explain.coming_recompiles import coming_recompiles
from dynascope.explain.failures import failed_compiles, skipped_frames
from dynascope.explain.graph_breaks import graph_breaks
from dynascope.explain.kinds import KINDS, OF_LINES, SECTIONS, ProblemKind
from dynascope.explain.of_launch import apart
from dynascope.explain.problem import LONGEST_TITLE, Identities, Problem, fitting
from dynascope.explain.recompiles import recompiles
from dynascope.facts import model, schema
from dynascope.facts.recompiles.causes import causes
from dynascope.facts.user_stack import UserFrame
from msgspec import structs

from tests.support.extension_settings import written
from tests.support.facts import sample

FACTS = sample.first_compile, sample.second_compile


def numbered(function: str = "Model.forward") -> tuple[model.CompileFacts, model.CompileFacts]:
    first, second = (make("/model.py", "/layers.py") for make in FACTS)
    for number, facts in enumerate((first, second), start=1):
        facts.compile.id, facts.compile.function = number, function
        for each in (*facts.graph_breaks, *facts.recompiles, *facts.backend_failures):
            each.compile, each.source = number, number
        for recompile in facts.recompiles:
            recompile.function = function
    return first, second


def identities(text: str = sample.LAYERS) -> Identities:
    return Identities(lambda source: model.hash_lines(text))


def breaks(*facts: model.GraphBreak, text: str = sample.LAYERS) -> list[Problem]:
    return graph_breaks(apart(facts), {}, identities(text))


def test_a_break_has_its_id_again_where_lines_above_are_edited():
    first, second = numbered()
    (before,) = breaks(*first.graph_breaks)
    second.graph_breaks = first.graph_breaks
    second.graph_breaks[0].line += 2
    (after,) = breaks(*second.graph_breaks, text=f"# new\n# too\n{sample.LAYERS}")
    assert before.id == after.id and before.id.startswith("GB0170-") and after.place.line == before.place.line + 2
    (edited,) = breaks(*second.graph_breaks, text="another\n" * 20)
    assert edited.id != before.id


def fact_of(kind: ProblemKind, line: int) -> model.Fact:
    """A fact of which a problem of this kind is made; its texts are `1`, unless they are one of some words."""
    struct = schema.FACTS[kind.facts].struct
    needed = {each.name: each.type for each in structs.fields(struct) if each.required}
    texts = {name: get_args(type)[0] if get_origin(type) is Literal else "1" for name, type in needed.items()}
    made: model.Fact = struct(**{**texts, "path": "/model.py", "line": line, "source": 1})
    return made


def all_kinds(lines_above: int) -> list[Problem]:
    """Problems of each kind of facts, with so many lines above all of them."""
    first, second = numbered()
    for compile in (first.compile, second.compile):
        compile.source, compile.line = 1, compile.line + lines_above
    for facts in (first, second):
        for fact in (*facts.graph_breaks, *facts.recompiles):
            fact.line, fact.source = fact.line + lines_above, 1
    compiles = {1: first.compile, 2: second.compile}
    made = identities("# above\n" * lines_above + sample.MODEL)
    coming = model.VaryingGuard(
        path="/model.py", line=8 + lines_above, source=1, kind="set", expression="L['self'].step", value="2"
    )
    return [
        *graph_breaks(apart([*first.graph_breaks, *second.graph_breaks]), {}, made),
        *recompiles(causes(second.recompiles, compiles, lambda number: None), compiles, made),
        *(one for kind in OF_LINES for one in kind.problems(apart([fact_of(kind, 9 + lines_above)]), made)),
        *failed_compiles([second.compile], made),
        *skipped_frames([first.compile], made),
        *coming_recompiles([coming], made),
    ]


def test_each_kind_of_problem_keeps_its_id_where_lines_above_are_edited():
    before, after = all_kinds(0), all_kinds(3)
    assert {each.kind for each in before} == {kind.name for kind in SECTIONS}
    assert [each.id for each in before] == [each.id for each in after]
    assert [each.place.line + 3 for each in before] == [each.place.line for each in after]
    assert len({each.id for each in before}) == len(before)


def test_breaks_of_one_line_have_ids_of_their_own():
    fact = numbered()[0].graph_breaks[0]
    other = sample.first_compile("/model.py", "/layers.py").graph_breaks[0]
    other.source, other.explanation = 1, "Another function is called there."
    found = breaks(fact, other)
    assert len({each.id for each in found}) == 2


def test_chains_of_callers_that_differ_in_torchs_frames_only_are_one():
    first, second, third = (numbered()[0].graph_breaks[0] for _ in range(3))
    second.stack = [UserFrame("/v/site-packages/torch/nn/modules/module.py", 1, "_call_impl"), *second.stack]
    assert "more chains" not in {note.kind for each in breaks(first, second) for note in each.notes}
    third.stack = [UserFrame("/train.py", 3, "step"), *third.stack]
    (problem,) = breaks(first, second, third)
    assert problem.notes[-1].text == "and 1 more chain of callers reaches this line"


def test_a_break_after_which_nothing_can_resume_is_told_so():
    first, _ = numbered()
    (broken,) = first.graph_breaks
    rest = structs.replace(
        broken, type="Reconstruction failure", registry_id="GB0092", explanation="", effect="function uncompiled"
    )
    before, follows = breaks(broken, rest)
    assert broken.effect == "resumed" and before.effect == "the whole function runs uncompiled"
    assert before.leaves == [1] and not before.root and follows.root == before.id
    elsewhere = structs.replace(rest, line=rest.line + 1)
    apart_from_it, alone = breaks(broken, elsewhere)
    assert apart_from_it.effect.startswith("a graph ends here") and not alone.root


def test_what_comes_of_a_break_is_told_where_it_differs():
    first, second = numbered()[0].graph_breaks[0], numbered()[0].graph_breaks[0]
    second.compile, second.effect = 2, "function uncompiled"
    (both,) = breaks(first, second)
    assert both.compiles == [1, 2] and both.count == 4
    assert both.effect == (
        "in 1 compile a graph ends here; what follows is traced on its own; "
        "in 1 compile the whole function runs uncompiled"
    )


def test_of_what_follows_another_break_that_alone_is_told_to_run_uncompiled():
    facts, _ = numbered()
    (broken,) = facts.graph_breaks
    broken.effect = "function uncompiled"
    rest = structs.replace(facts.compile, resumes_at=3)
    (problem,) = graph_breaks(apart([broken]), {rest.id: rest}, identities())
    assert problem.effect == "what follows line 3 runs uncompiled"


@pytest.mark.parametrize("function", ["f", "Model.forward", "a_function_with_quite_a_name." * 4])
def test_titles_fit_and_begin_with_what_happened(function: str):
    first, second = numbered(function)
    known = {facts.compile.id: facts for facts in (first, second)}
    compiles = {number: facts.compile for number, facts in known.items()}
    second.compile.failure = None
    skipped = model.Compile(
        compile_id="", function=function, path="/model.py", line=4, status="skipped", began=0.0, seconds=0.0
    )
    found = [
        *breaks(*first.graph_breaks),
        *recompiles(causes(second.recompiles, compiles, known.get), compiles, identities()),
        *KINDS["backendFailure"].problems(apart(second.backend_failures), identities()),
        *failed_compiles([second.compile], identities()),
        *skipped_frames([skipped], identities()),
    ]
    assert fitting("too long " * 9, "in\n  two lines") == "in two lines"
    begins = ["Graph break: Data-dep", "Recompiled because of x.size()[0]", "inductor raised RuntimeError", "Could not"]
    assert all(each.title.startswith(begin) for each, begin in zip(found, [*begins, "Not compiled"], strict=True)), (
        found
    )
    assert all(0 < len(each.title) <= LONGEST_TITLE and "\n" not in each.title for each in found)
    assert len({each.id for each in found}) == len(found)


def test_vs_code_knows_every_kind_and_every_filter():
    stale = [path.name for path, text in written().items() if path.read_text() != text]
    assert not stale, f"run `make extension-settings`: {stale}"
