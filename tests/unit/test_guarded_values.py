"""What a failed guard is about, read from Dynamo's texts: one value is one subject, whatever it was."""

from __future__ import annotations

import pytest
from dynascope.facts.recompiles import recompile_reason
from dynascope.facts.recompiles.guarded_value import guarded_value
from dynascope.facts.recompiles.remedies import remedies
from dynascope.facts.recompiles.wanted_value import met, wanted

SAME = [
    (["self.step == 0", "self.step == 7"], "self.step"),
    (["G['SCALE'] == 1.0", "G['SCALE'] == 2.5"], "SCALE"),
    (["mode == 'a'", "mode == 'b'", "mode is None"], "mode"),
    (["not names", "len(names) == 1", "len(names) != 12"], "len(names)"),
    (["self._modules['ls']._modules['0'].calls == 3"], "self.ls[0].calls"),
    (["tensor 'x' size mismatch at index 0. expected 4, actual 5", "2 <= x.size()[0] <= 5"], "x.size()[0]"),
    (["tensor 'x' dtype mismatch. expected Float, actual Double"], "x.dtype"),
    (["tensor 'x' stride mismatch at index 1. expected 1, actual 2"], "x.stride()[1]"),
    (["___check_type_id(o, 4711), type=<class 'a.B'>", "___check_type_id(o, 12), type=<class 'c'>"], "type(o)"),
    (["___check_obj_id(f, 4711), type=<class 'function'>"], "which object f is"),
    (["list(dict.keys(d))[0] == 'a'"], "keys of d"),
    (["___dict_contains('a', conf.__dict__)", "not ___dict_contains('b', conf.__dict__)"], "names in conf.__dict__"),
    (["y.size()[0] == x.size()[0]"], "sizes of x, y"),
    (["L['n'] == 3", "n == 4"], "n"),
]


@pytest.mark.parametrize(("guards", "text"), SAME)
def test_guards_of_one_value_have_one_subject(guards: list[str], text: str):
    subjects = {guarded_value(guard) for guard in guards}
    assert [each.text for each in subjects] == [text]


def test_other_dimensions_and_other_kinds_are_others():
    texts = ["tensor 'x' size mismatch at index 0. expected 4, actual 5", "3 <= x.size()[1]", "n == 1", "not n"]
    assert len({guarded_value(text) for text in texts}) == 4


WANTED = [
    ("tensor 'L['x']' size mismatch at index 0. expected 4, actual 5", "be 4", "5"),
    ("tensor 'L['x']' requires_grad mismatch. expected requires_grad=0", "be False", None),
    ("L['n'] == 3", "be 3", None),
    ("L['mode'] is not None", "not be None", None),
    ("not L['names']", "be 0", None),
    ("len(L['names']) != 2", "not be 2", None),
    ("___check_type_id(L['o'], 4711), type=<class 'a.b.C'>", "be C", None),
    ("list(dict.keys(L['d']))[1] == 'b'", "have 'b' as key 2", None),
    ("___dict_contains('a', L['conf'].__dict__)", "have 'a'", None),
    ("2 <= L['x'].size()[0] <= 5", None, None),
]


@pytest.mark.parametrize(("guard", "clause", "value"), WANTED)
def test_what_a_guard_wants(guard: str, clause: str | None, value: str | None):
    assert (wanted(guard, guarded_value(guard)), met(guard)) == (clause, value)


def test_the_line_that_needs_a_guard_is_not_that_of_a_first_use():
    text = (
        "2 <= L['x'].size()[0] <= 8  # y = x + 1  # p/a.py:7 in f (user code shown is first use of this value--the "
        "guard itself is not due user code) and if y.shape[0] > 8:  # p/b.py:9 in g (_dynamo/c.py:1 in h)"
    )
    assert recompile_reason.place(text, ["/p/a.py", "/p/b.py"]) == ("/p/b.py", 9)
    assert recompile_reason.place(text, ["/p/a.py"]) == ("/p/a.py", 7)
    assert recompile_reason.place("x", ["/p/a.py"]) is None


def test_no_dimension_is_marked_for_what_is_no_tensor():
    for guards, _ in SAME:
        marks = any("mark_dynamic(x, 0)" in text for text in remedies(guards[:1], []))
        assert marks == guards[0].startswith("tensor 'x' size mismatch"), guards


@pytest.mark.parametrize(
    ("reason", "guard", "hint"),
    [
        ("0/1: self.step == 1  # x * self.step  # a.py:3 in f (HINT: make it (or not) dynamic.)", "self.step == 1",
         "make it (or not) dynamic."),
        ("0/0: ___check_type_id(o, 47), type=<class 'A'>  # o.n  # a.py:3 in f (HINT: type A)",
         "___check_type_id(o, 47), type=<class 'A'>", None),
        ("0/0: tensor 'self.w' rank mismatch. expected 1, actual 2. Guard failed on a parameter, consider using a = b.",
         "tensor 'self.w' rank mismatch. expected 1, actual 2", "consider using a = b"),
        ("0/0: 2 <= x.size()[0]  # f  # a.py:3 in f (it is due to 0/1; to avoid specialization try "
         "torch._dynamo.decorators.mark_unbacked(tensor, dim)) and g", "2 <= x.size()[0]",
         "try torch._dynamo.decorators.mark_unbacked(tensor, dim)"),
    ],
)  # fmt: skip
def test_dynamos_own_advice_is_kept(reason: str, guard: str, hint: str | None):
    failed = recompile_reason.parse(reason, "a.py")
    assert (failed.guard, failed.hint) == (guard, hint)
