"""What a failed guard is about, read from Dynamo's texts: one value is one subject, whatever it was."""

from __future__ import annotations

import pytest
from dynascope.agent.internals.guards.guards import GuardFact, inner_part
from dynascope.explain.remedies import remedies
from dynascope.facts.model import Recompile
from dynascope.facts.recompiles import recompile_reason
from dynascope.facts.recompiles.causes import causes, reason
from dynascope.facts.recompiles.guarded_value import guarded_value, met, wanted
from dynascope.facts.recompiles.known import Known

SAME = [
    (["self.step == 0", "self.step == 7"], "self.step"),
    (["G['SCALE'] == 1.0", "G['SCALE'] == 2.5"], "SCALE"),
    (["mode == 'a'", "mode == 'b'", "mode is None"], "mode"),
    (["pattern == 'a b -> b a'", 'pattern == "<s>"', "pattern is None"], "pattern"),
    (["not names", "len(names) == 1", "len(names) != 12"], "len(names)"),
    (["self._modules['ls']._modules['0'].calls == 3"], "self.ls[0].calls"),
    (["tensor 'x' size mismatch at index 0. expected 4, actual 5", "2 <= x.size()[0] <= 5"], "x.size()[0]"),
    (["tensor 'x' dtype mismatch. expected Float, actual Double"], "x.dtype"),
    (["tensor 'x' stride mismatch at index 1. expected 1, actual 2", "2 <= x.stride()[1]"], "x.stride()[1]"),
    (
        [
            "expected type of 'o' to be a tensor type, ' but found <class 'NoneType'>",
            "expected type of 'o' to be <class 'torch.Tensor'>, but found <class 'NoneType'>",  # since torch 2.15
        ],
        "type(o)",
    ),
    (["___check_type_id(o, 4711), type=<class 'a.B'>", "___check_type_id(o, 12), type=<class 'c'>"], "type(o)"),
    (["___check_obj_id(f, 4711), type=<class 'function'>"], "which object f is"),
    (["list(dict.keys(d))[0] == 'a'"], "keys of d"),
    (["___dict_contains('a', conf.__dict__)", "not ___dict_contains('b', conf.__dict__)"], "names in conf.__dict__"),
    (["y.size()[0] == x.size()[0]"], "sizes of x, y"),
    (["L['n'] == 3", "n == 4", "2 <= n", "n < 5", "2 <= n and n <= 5"], "n"),
    (["___check_type_id(d, 4711), type=<class 'dict'>", "TYPE_MISMATCH(d)"], "type(d)"),
    (["___check_fake_script_type(mesh, 4711), type=<class 'a.DeviceMesh'>"], "type(mesh)"),
    (["x is y", "L['y'] is L['x']", 'Duplicate tensors found: ["x", "y"]'], "whether x, y are one object"),
    (["tensor 'x' dispatch key set mismatch. expected A, actual B"], "dispatch keys of x"),
    (["___check_torch_function_mode_stack()"], "torch_function_modes"),
    (
        ["dict(type(o).__dict__)['gain'] == 2", "dict(type(L['o']).__dict__)['gain'] == 5"],
        "type(o).gain",
    ),
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
    ("len(L['names']) == 2", "be 2", None),
    ("___check_type_id(L['o'], 4711), type=<class 'a.b.C'>", "be C", None),
    ("list(dict.keys(L['d']))[1] == 'b'", "have 'b' as key 2", None),
    ("'scale' in L['opts']", "have the key 'scale'", None),
    ("len(L['xs']) > 2", "be more than 2", None),
    ("___dict_contains('a', L['conf'].__dict__)", "have 'a'", None),
    ("2 <= L['x'].size()[0] <= 5", None, None),
    ("expected type of 'o' to be a tensor type, ' but found <class 'NoneType'>", "be that of a tensor", "NoneType"),
    ("expected type of 'o' to be <class 'torch.Tensor'>, but found <class 'a.Sub'>", "be Tensor", "Sub"),
]


@pytest.mark.parametrize(("guard", "clause", "value"), WANTED)
def test_what_a_guard_wants(guard: str, clause: str | None, value: str | None):
    assert (wanted(guard, guarded_value(guard)), met(guard)) == (clause, value)


@pytest.mark.parametrize(
    ("told", "guard"),
    [
        ("len(L['kw']) != 0", "len(L['kw']) == 0"),  # it is `not L['kw']`
        ("KeyError on L['opts']['scale']", "'scale' in L['opts']"),
        ("IndexError on L['xs'][2]", "len(L['xs']) > 2"),
        ("L['n'] == 0", "L['n'] == 0"),
    ],
)
def test_torch_tells_of_containers_what_made_the_guard_fail(told: str, guard: str):
    assert recompile_reason.parse(f"0/2: {told}", "/p/a.py").guard == guard


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


def test_what_helps_against_one_object_passed_as_several():
    assert "calls that pass one object as all of these" in "".join(remedies(["x is y"], []))
    assert "for different tensors" in "".join(remedies(['Duplicate tensors found: ["x", "y"]'], []))
    assert len(remedies(["x is y", 'Duplicate tensors found: ["x", "y"]'], [])) == 2
    assert "one compile for None" in "".join(remedies(["mode is None", "mode == None"], []))
    assert "Each value" in "".join(remedies(["mode is None", "mode == 'a'"], []))


def test_tensors_of_other_devices_are_advised_to_be_of_one():
    keys = (
        "tensor 'x' dispatch key set mismatch. expected DispatchKeySet({}, ADInplaceOrView), actual DispatchKeySet({})"
    )
    assert "one device" in remedies([keys.format("CPU", "CUDA")], [])[0]
    assert "inference_mode" in remedies([keys.format("CPU", "CPU")], [])[0]


def test_a_guard_that_no_line_needs():
    used = "# x + 1  # model.py:4 in f (user code shown is first use of this value--due to 0/1 specialization in it)"
    assert recompile_reason.is_of_zero_and_one(f"2 <= x.size()[0]  {used}")
    marked = f"{used} and x + 1  # model.py:4 in f (_dynamo/variables/builder.py:4960 in <lambda>)"
    assert recompile_reason.is_range_of_mark(f"2 <= x.size()[0] <= 16  {marked}")
    asked = "# if x.shape[0] > 4:  # model.py:3 in f (_dynamo/variables/tensor.py:2606 in evaluate_expr)"
    for text in (asked, f"{marked} and {asked}", f"{used} and {asked}"):
        assert not recompile_reason.is_range_of_mark(text) and not recompile_reason.is_of_zero_and_one(text)


def test_a_slot_of_the_stack_and_an_object_that_is_gone_are_told():
    explained, advice = remedies(["L['___stack1'] == 1.0", "___stack1 == 2.0"], [])
    assert explained.startswith("`___stack1` is what the line of the graph break had computed")
    assert advice.startswith("Dynamo makes a number dynamic")
    (gone,) = remedies(["Cache line invalidated because L['method'] got deallocated"], [])
    assert gone.startswith("A compile ends with the object")
    assert guarded_value("Cache line invalidated because L['method'] got deallocated").text == "the end of method"
    (mend,) = remedies(["Cache line invalidated because ___stack2 got deallocated"], [])
    assert mend.startswith("`___stack2` is what the line of the graph break had computed")


def test_a_backend_and_a_parameter_that_needs_a_gradient_or_not():
    guard = "BACKEND_MATCH failure: torch.compile detected different backend callables. Cached backend: X (id=0x7f)"
    assert guarded_value(guard).text == "the backend"
    assert remedies([guard], [])[0].startswith("Each backend, and each set of `torch.compile(options=…)`")
    hint = "consider using torch._dynamo.config.force_parameter_static_shapes = False to allow dynamism on parameters"
    guard = "tensor 'weight' requires_grad mismatch. expected requires_grad=1"
    assert remedies([guard], [hint])[0].startswith("Call it with the same `requires_grad`")
    assert remedies(["tensor 'weight' size mismatch at index 0. expected 2, actual 3"], [hint])[0] == (
        "Dynamo gives parameters fixed sizes: set `torch._dynamo.config.force_parameter_static_shapes = False` "
        "before the first call, which lets them become dynamic (in modules of torch's own classes also "
        "`torch._dynamo.config.force_nn_module_property_static_shapes = False`)."
    )


def test_a_key_of_a_dict_is_no_attribute():
    (advice,) = remedies(["not ___dict_contains(3, L['self'].cache)"], [])
    assert advice.startswith("Whether a dict has a key") and "attribute" not in advice
    for attribute in ("___dict_contains('a', L['conf'].__dict__)", "not hasattr(L['conf'], 'a')"):
        assert remedies([attribute], []) == [
            "Set all attributes before the first call: each later one is compiled again."
        ]


def test_a_bound_is_no_value_to_keep():
    assert remedies(["2 <= n"], []) == [
        "The number is dynamic already: a condition on it is compiled once for each outcome."
    ]


def test_a_recompile_has_one_cause_and_old_guards_that_failed_too_are_aside():
    failed = [
        (2, "0/0", "scale == 1.0", "scale: 2.0"),
        (3, "0/1", "len(xs) == 2", "len(xs): 3"),
        (3, "0/0", "scale == 1.0", "scale: 2.0"),
        (4, "0/2", "len(xs) == 3", "len(xs): 4"),
        (4, "0/1", "x is y", "whether x, y are one object: 2 objects"),
        (4, "0/0", "scale == 1.0", "scale: 2.0"),
    ]
    facts = [
        Recompile(path="a.py", line=1, compile=number, function="f", failed_compile_id=of, guard=guard, value=value)
        for number, of, guard, value in failed
    ]
    found = {each.about: each for each in causes(facts, {}, lambda number: None)}
    assert {about: each.compiles for about, each in found.items()} == {
        "len(xs)": [3, 4],
        "scale": [2],
        "whether x, y are one object": [],
    }
    assert list(found) == ["len(xs)", "scale", "whether x, y are one object"], "the most compiles are first"
    assert (found["scale"].others, found["scale"].values) == ([3, 4], ["2.0"])
    assert [each.is_aside for each in found.values()] == [False, False, True]


GRAD = "tensor 'x' requires_grad mismatch. expected requires_grad={}"
STRIDE = "tensor 'x' stride mismatch at index 0. expected 3, actual 1"
NO_TENSOR = "expected type of 'mask' to be a tensor type, ' but found <class 'NoneType'>"


def failed_guard(of: str, guard: str, value: str) -> Recompile:
    return Recompile(path="a.py", line=1, compile=1, function="f", failed_compile_id=of, guard=guard, value=value)


@pytest.mark.parametrize(
    ("earlier", "now", "cause"),
    [
        # another layout, after a call with a gradient
        (
            {"0/1": [("0/0", GRAD.format(0), "x.requires_grad: True")]},
            [("0/1", GRAD.format(1), "x.requires_grad: False"), ("0/0", STRIDE, "strides of x: (1, 2)")],
            "0/0",
        ),
        # labels, after a call with a mask
        (
            {"0/1": [("0/0", "mask is None", "mask: f32[2]")]},
            [("0/1", NO_TENSOR, "mask: NoneType"), ("0/0", "labels is None", "labels: i64[2]")],
            "0/0",
        ),
        # a name that has been met, when the dict had another length
        (
            {
                "0/1": [("0/0", "name == 'a'", "name: 'b'")],
                "0/2": [("0/1", "name == 'b'", "name: 'a'"), ("0/0", "not STATE", "len(STATE): 1")],
            },
            [
                ("0/2", "name == 'a'", "name: 'b'"),
                ("0/1", "len(STATE) == 1", "len(STATE): 2"),
                ("0/0", "name == 'a'", "name: 'b'"),
            ],
            "0/1",
        ),
        # a third value, while something else has changed for good
        (
            {"0/1": [("0/0", "step == 0", "step: 1")]},
            [("0/1", "step == 1", "step: 2"), ("0/0", "mode == 'a'", "mode: 'b'")],
            "0/1",
        ),
        # one value alone: the compile used last
        (
            {"0/1": [("0/0", "step == 0", "step: 1")]},
            [("0/1", "step == 1", "step: 2"), ("0/0", "step == 0", "step: 2")],
            "0/1",
        ),
    ],
)
def test_a_value_that_has_returned_is_no_cause(earlier, now, cause: str):
    before = {name: [failed_guard(*each) for each in entries] for name, entries in earlier.items()}
    assert reason([failed_guard(*each) for each in now], before).failed_compile_id == cause


MISMATCH = "tensor 'x' size mismatch at index 0. expected {}, actual {}"


@pytest.mark.parametrize(
    ("sizes", "conditions", "is_rest", "says", "marks"),
    [
        ((4, 6), ["2 <= L['x'].size()[0]"], False, "or compile with `dynamic=True`.", True),
        ((4, 6), ["6 <= L['x'].size()[0]"], False, "asks how large its arguments are", False),
        ((4, 6), ["6 <= L['y'].size()[0]", "2 <= L['x'].size()[0]"], False, "`dynamic=True`.", True),
        ((4, 1), [], False, "was 0 or 1, which Dynamo always compiles by itself", False),
        ((4, 6), ["2 <= L['x'].size()[0]"], True, "computed before a graph break cannot be marked", False),
        ((4, 6), None, False, "It helps unless the function asks", True),
        (
            (4, 6),
            ["L['y'].size()[0] == L['x'].size()[0]", "2 <= L['x'].size()[0]"],
            False,
            "must be as large as `y.size()[0]`",
            True,
        ),
    ],
)
def test_a_size_is_to_be_marked_only_where_that_helps(
    sizes: tuple[int, int], conditions: list[str] | None, is_rest: bool, says: str, marks: bool
):
    (hint,) = remedies([MISMATCH.format(*sizes)], [], Known(conditions=conditions, is_rest=is_rest))
    assert says in hint and ("maybe_mark_dynamic(x, 0)" in hint) == marks


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("___from_numpy(L['a'])", "an array of NumPy cannot be marked"),
        ("L['args'][0]", "Mark dimension 0 of the tensor that is passed as `args[0]`"),
        ("L['xs'][0]", "`torch._dynamo.maybe_mark_dynamic(xs[0], 0)`"),
    ],
)
def test_a_size_of_what_is_no_name_is_not_said_to_be_asked_for(source: str, says: str):
    name = source.replace("L['", "").replace("']", "", 1)
    guard = f"tensor '{name}' size mismatch at index 0. expected 2, actual 3"
    (hint,) = remedies([guard], [], Known(conditions=[f"2 <= {source}.size()[0]"]))
    assert says in hint and "asks how large" not in hint


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


@pytest.mark.parametrize(
    "guard", ["len(self.state[list(dict.keys(self.state))[0]]) == 0", "not args[0].state", "not L['o'].state"]
)
def test_an_optimizer_takes_a_step_before_it_is_compiled(guard: str):
    (advice,) = remedies([guard], [])
    assert advice.startswith("An optimizer fills its state in its first step")


def test_a_state_that_was_not_empty_is_told_as_any_length():
    (advice,) = remedies(["len(self.state) == 3"], [])
    assert advice.startswith("Each length is compiled on its own")


@pytest.mark.parametrize(
    ("source", "kind", "part"),
    [
        ("L['self']._modules['a']._forward_hooks", "EMPTY_NN_MODULE_HOOKS_DICT", "modules and hooks"),
        ("L['self']._modules['a']", "NOT_PRESENT_IN_GENERIC_DICT", "modules and hooks"),
        ("L['self']._modules['a'].cache", "SEQUENCE_LENGTH", ""),
        ("L['self'].my_hooks", "TYPE_MATCH", ""),
        ("L['self']._modules['a']", "ID_MATCH", ""),
        ("", "GRAD_MODE", "state of torch"),
    ],
)
def test_guards_on_what_a_program_keeps_are_not_folded(source: str, kind: str, part: str) -> None:
    assert inner_part(GuardFact(source, kind, None, None, [], None)) == part


def test_a_sparse_tensor_after_a_dense_one_has_another_layout():
    keys = "DispatchKeySet({}CPU, BackendSelect, ADInplaceOrView, AutogradCPU)"
    guard = f"tensor 'x' dispatch key set mismatch. expected {keys.format('')}, actual {keys.format('Sparse')}"
    assert remedies([guard], []) == ["Give it tensors of one layout (dense, sparse …) in each call."]
