"""`why`: each cache entry's guard that failed, what it wanted and met, its line, and the remedies that were tried."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest

pytest.importorskip("torch")

import torch
from torch._dynamo.comptime import comptime
from torch._dynamo.utils import counters

from tests.support.agent import remedies
from tests.support.agent.recording import asking_at_recompiles
from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, labels, load, one_in
from tests.support.nonperturbation.capture import Traces, guards_and_bytecode


@pytest.fixture(autouse=True)
def _the_limit_of_torch() -> Iterator[None]:
    """Programs of other tests lower it for the whole process."""
    with torch._dynamo.config.patch(recompile_limit=8):
        yield


PATH = PROGRAMS / "traced" / "recompiled.py"
OFTEN = PROGRAMS / "traced" / "recompiled_often.py"
OUTSIDE = PROGRAMS / "traced" / "recompiled_outside.py"
TOGETHER = PROGRAMS / "traced" / "recompiled_together.py"
LABELS = labels(PATH) | labels(OFTEN) | labels(OUTSIDE) | labels(TOGETHER)


class Case(NamedTuple):
    told: str
    """The clause on the newest cache entry: what its guard wants, and what it meets."""
    label: str = ""
    """The line that needs the guard, or lines of which one does; "" where none does."""
    tried: str = ""
    """The beginning of what is told of the first remedy that is tried; "" where none can be."""


MARK = "with `torch._dynamo.mark_dynamic(x, 0)`, x.size()[0] is dynamic"
UNMARKED = "with `torch._dynamo.mark_dynamic(x, 0)` in place of `torch._dynamo.mark_static`, x.size()[0] is dynamic"
SOURCES = 'with `torch.compiler.config.dynamic_sources = "'
GONE = "is dynamic in [-oo, oo], and the guard is gone"
UNSPEC = "with `torch._dynamo.config.allow_unspec_int_on_nn_module = True` and `dynamic=True`, self.step "
DUCK = "with `torch.fx.experimental._config.use_duck_shape = False`, each size has a symbol of its own, but "
CASES = {
    "size": Case("x.size()[0] must be 3, and is 4", "size", f"{MARK} in [2, oo], and the guard is gone"),
    "size_of_dynamic": Case("2 <= x.size()[0] <= 8 must be true, and x.size()[0] is 20", "bound"),
    "pinned": Case(
        "x.size()[0] must be 3, and is 4",
        "pinned_first",
        MARK + ", but not all its values fit, because recompiled.py:{pinned} needs Ne(x.size()[0], 3)",
    ),
    "stride": Case("x.stride()[0] must be 6, and is 1", "stride"),
    "dtype": Case("x.dtype must be Float, and is Double", "dtype"),
    "rank": Case("x.dim() must be 1, and is 2", "rank"),
    "requires_grad": Case("x.requires_grad must be False, and is True", "requires_grad"),
    "int": Case("n must be 2, and is 5", "int", f"{SOURCES}L['n']\"`, n {GONE}"),
    "float": Case("f must be 0.5, and is 0.25", "float", f"with `dynamic=True`, f {GONE}, unless the backend fixes it"),
    "bool": Case("flag must be True, and is False", "bool"),
    "none": Case("y must be None, and is f32[3]", "none"),
    "str": Case("mode must be 'cos', and is 'sin'", "str"),
    "attribute": Case("self.step must be 2, and is 5", "attribute", f"{UNSPEC}{GONE}"),
    "global": Case("SCALE must be 2, and is 5", "global", f"{SOURCES}G['SCALE']\"`, SCALE {GONE}"),
    "grad_mode": Case("grad_mode must be True, and is False"),
    "autocast": Case("autocast(cpu)_enabled must be False, and is True"),
    "length": Case("len(xs) must be 2, and is 3", "length"),
    "keys": Case("len(table) must be 2, and is 3", "keys"),
    "key_names": Case("table must have 'a' as key 1, and its keys are ['bb']", "key_order"),
    "identity": Case("function must be the same function as then, and is triple", "identity"),
    "type": Case("type(animal) must be Cat, and is Bird", "type"),
    "closure": Case("n must be 2, and is 5", "closure", f"{SOURCES}L['n']\"`, n {GONE}"),
    "relation": Case(
        "y.size()[0] == x.size()[0] must be true, with x: f32[3], y: f32[4]",
        "",
        DUCK + "recompiled.py:{relation} needs ",
    ),
    "has_attribute": Case("conf must lack 'extra'", "has_attribute"),
    "optimizer": Case("optimizer.param_groups[0]['lr'] must be 0.1, and is 0.01", "optimizer", "with `dynamic=True`, "),
    "first_step": Case("len(optimizer.state) must be 0", "first_step"),
    "after_break": Case("n must be 2, and is 5", "after_break", f"{SOURCES}L['n']\"`, n {GONE}"),
    "inside": Case("n must be 2, and is 5", "inside", f"{SOURCES}L['n']\"`, n {GONE}"),
}
IS_SETTING = "with `torch._dynamo.config.force_parameter_static_shapes = False`"
UNBACKED = "with `torch._dynamo.decorators.mark_unbacked(x, 0)`, x.size()[0]"
OF_OFTEN = {
    "layout": Case("x.stride()[1] must be 16, and is 1", "layout"),
    "dtype_argument": Case("dtype must be torch.float64, and is torch.float16", "dtype_argument"),
    "training": Case("self.training must be True, and is False", "training"),
    "enum": Case("color must be the same Color as then, and is Color.BLUE", "enum"),
    "tuple": Case("shape[0] must be 2, and is 3", "tuple", f"{SOURCES}L['shape'][0],L['shape'][1]\"`, shape[0] is"),
    "dict_value": Case(
        "config['scale'] must be 2, and is 5",
        "dict_value",
        f"{SOURCES}L['config']['scale']\"`, config['scale'] {GONE}",
    ),
    "dataclass": Case(
        "settings.scale must be 2, and is 5", "dataclass", f"{SOURCES}L['settings'].scale\"`, settings.scale {GONE}"
    ),
    "default": Case("scale must be 2, and is 5", "default", f"{SOURCES}L['scale']\"`, scale {GONE}"),
    "one": Case("x.size()[0] must be 1, and is 5", "layout", f"{UNBACKED} is dynamic in "),
    "zero": Case("x.size()[0] must be 5, and is 0", "layout", f"{UNBACKED} is dynamic in "),
    "one_asked": Case(
        "x.size()[0] must be 1, and is 5", "one_asked", f"{UNBACKED} is dynamic in [0, oo], but the graph "
    ),
    "one_viewed": Case("x.size()[0] must be 1, and is 5", "one_viewed", f"{UNBACKED} is dynamic in "),
    "nested_length": Case("len(rows['rows']) must be 2, and is 3", "nested_length"),
    "modules": Case("len(self.layers) must be 2, and is 3", "modules"),
    "buffer": Case("module.scale.size()[0] must be 2, and is 4", "buffer", f"{IS_SETTING} and `dynamic=True`, "),
    "partial": Case(
        "function.args[0] must be 2, and is 5",
        "partial called",
        f"{SOURCES}L['function'].args[0]\"`, function.args[0] {GONE}",
    ),
    "default_dtype": Case("default_dtype must be what it was then, and is torch.float64"),
    "type_of_number": Case("n must be 2, and is 2.5", "type_of_number"),
    "slice": Case(
        "part.stop must be 2, and is 4", "slice", f"{SOURCES}L['part'].stop\"`, part.stop is dynamic in [2, "
    ),
    "alias": Case("x, y must be one object, and are 2 objects", "alias"),
    "global_dict": Case(
        "CONFIG['scale'] must be 2, and is 5",
        "global_dict",
        f"{SOURCES}G['CONFIG']['scale']\"`, CONFIG['scale'] {GONE}",
    ),
    "class_attribute": Case(
        "Scaled.scale must be 2, and is 5", "class_attribute", f"{SOURCES}G['Scaled'].scale\"`, Scaled.scale {GONE}"
    ),
    "range": Case("numbers.stop must be 2, and is 3", "range", f"{SOURCES}L['numbers'].stop\"`, "),
    "keywords": Case("len(options) must be 1, and is 2", "keywords"),
    "named_tuple": Case(
        "pair.scale must be 2, and is 5", "named_tuple", f"{SOURCES}L['pair'].scale\"`, pair.scale {GONE}"
    ),
    "set": Case("names must have 'a', and is {'b'}", "set"),
    "complex": Case("z must be (2+1j), and is (5+1j)", "complex"),
    "inference": Case("grad_mode must be True, and is False"),
    "static": Case("x.size()[0] must be 3, and is 4", "layout", f"{UNMARKED} in [2, oo], and the guard is gone"),
}
"""Written before `why` was tried on them."""
if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 12):
    del OF_OFTEN["class_attribute"]  # it runs what it has compiled, with the old value
OF_OUTSIDE = {
    "float_condition": Case(
        "t must be 0.5, and is 0.25",
        "float_condition",
        "with `dynamic=True`, t is dynamic, but not all its values fit, because recompiled_outside.py:",
    ),
    "product": Case(
        "x.size()[1] must be 4, and is 5",
        "product",
        "with `torch._dynamo.mark_dynamic(x, 1)` and `torch._dynamo.mark_dynamic(y, 0)`, x.size()[1] is dynamic in ",
    ),
    "numpy": Case(
        "___from_numpy(array).size()[0] must be 3, and is 5",
        "numpy",
        "with `dynamic=True`, ___from_numpy(array).size()[0] is dynamic in [2, oo], and the guard is gone",
    ),
    "tensor_or_none": Case("type(mask) must be Tensor, and is NoneType", "tensor_or_none"),
    "subclass": Case("type(x) must be Tensor, and is Special", "doubled"),
    "no_subclass": Case("type(x) must be Special, and is Tensor", "doubled"),
    "function_mode": Case("torch_function_modes must be [], and is ['DeviceContext']"),
    "autocast_dtype": Case("autocast(cpu)_dtype must be what it was then, and is torch.float16"),
    "class_of_object": Case(
        "type(scaled).scale must be 2, and is 5",
        "class_of_object",
        f"{SOURCES}dict(type(L['scaled']).__dict__)['scale']\"`, type(scaled).scale {GONE}",
    ),
    "deque": Case("len(queue) must be 2, and is 3", "deque"),
    "default_dict": Case("len(table) must be 1, and is 2", "default_dict"),
    "gradient": Case("x.grad must be None, and is f32[3]", "gradient"),
    "flag": Case("access must be Access.READ, and is Access.READ|WRITE", "flag"),
    "range_of_mark": Case("2 <= x.size()[0] <= 16 must be true, and x.size()[0] is 40"),
    "marked_then_one": Case(
        "2 <= x.size()[0] must be true, and x.size()[0] is 1", "", f"{UNBACKED} is dynamic in [0, oo], and the guard is"
    ),
    "int_condition": Case("(n % 4) == 0 must be true, with n: 6", "int_condition"),
    "environment": Case("os.environ._data[b'MODE'] must be b'a', and is b'b'", "environment"),
}
BOTH = "with `torch._dynamo.mark_dynamic({}, 0)` and `torch._dynamo.mark_dynamic({}, 0)`"
THE_SAME = "is dynamic in [2, oo], the same as batch.size()[0], and the guard is gone"
OF_TOGETHER = {
    "nested": Case(
        "meta['idx'].size()[0] must be 4, and is 2",
        "nested",
        BOTH.format("meta['idx']", "batch") + f", meta['idx'].size()[0] {THE_SAME}",
    ),
    "three": Case(
        "x.size()[0] must be 4, and is 2",
        "three",
        f"{BOTH.format('x', 'y')} and `torch._dynamo.mark_dynamic(z, 0)`, x.size()[0] is dynamic in [2, oo], ",
    ),
    "numbered": Case(
        "n must be 4, and is 2",
        "numbered",
        "with `torch._dynamo.mark_dynamic(x, 0)` and `torch.compiler.config.dynamic_sources = \"L['n']\"`, n is ",
    ),
    "twice": Case("x.size()[0] must be 4, and is 3", "twice", BOTH.format("x", "y")),
    "both_sizes": Case(
        "x.size()[0] must be 4, and is 2",
        "both_sizes",
        f"{MARK} in [2, oo], and the guard is gone; but x.size()[1] has changed, too, and is still fixed",
    ),
    "static_size": Case("x.size()[0] must be 2, and is 3", "static_size", f"{MARK} in [2, oo], and the guard is gone"),
    "static_number": Case("n must be 2, and is 3", "static_number", f"{SOURCES}L['n']\"`, n {GONE}"),
    "static_loop": Case("n must be 2, and is 3", "static_loop", f"{SOURCES}L['n']\"`, the guard is still there"),
    "needed": Case(
        "x.size()[0] must be 2, and is 3", "needed", "with `torch._dynamo.mark_dynamic(x, 0)`, the guard is"
    ),
    "needed_of_dynamic": Case(
        "x.size()[0] must be 2, and is 3", "needed", "with `torch._dynamo.mark_dynamic(x, 0)`, t"
    ),
    "marked_inside": Case(
        "x.size()[0] must be 4, and is 2", "marked_inside", f"{MARK} in [2, oo], and the guard is gone"
    ),
    "equal_to_fixed": Case(
        "x.size()[0] must be 4, and is 3", "marked_inside", f"{MARK} in [2, oo], and the guard is gone"
    ),
    "apart": Case("x.size()[0] must be 4, and is 2", "apart", f"{MARK} in [2, oo], and the guard is gone; but y.size"),
}
CASES |= OF_OFTEN | OF_OUTSIDE | OF_TOGETHER
NO_LINE = {
    "default_dtype": "every compile has this guard",
    "inference": "every compile has this guard",
    "grad_mode": "every compile has this guard",
    "autocast": "every compile has this guard",
    "relation": "no line needs this: the sizes were equal then",
    "function_mode": "every compile has this guard",
    "autocast_dtype": "every compile has this guard",
    "range_of_mark": "no line needs this: it is the range of the mark",
    "marked_then_one": "no line needs this: Dynamo compiles 0 and 1 by themselves",
}


def path_of(main: str) -> Path:
    if main in OF_TOGETHER:
        return TOGETHER
    return OFTEN if main in OF_OFTEN else OUTSIDE if main in {*OF_OUTSIDE, "two_sizes"} else PATH


def stops(main: str, filter_id: str | None, at_stop: Callable[[ScriptedSession], None], *lines: int) -> None:
    """Call `at_stop` at each stop; the program compiles what it compiles without it."""
    session = ScriptedSession()
    if filter_id is not None:
        session.catch(filter_id)
    session.break_at(path_of(main), *lines)
    session.at_stop = at_stop
    plain, asked = traces(main, contextlib.nullcontext()), traces(main, session.attached())
    assert plain.differences(asked) == [] and plain.guards


def traces(main: str, observer: contextlib.AbstractContextManager[Any]) -> Traces:
    """Return what the program leaves behind."""
    found = Traces()
    torch._dynamo.reset()
    counters.clear()
    with guards_and_bytecode(found), observer:
        found.output = str(getattr(load(path_of(main)), f"main_{main}")())
    found.counters = repr({name: dict(counted) for name, counted in sorted(counters.items())})
    return found


def answers(
    main: str, filter_id: str | None = "recompile", *lines: int, questions: Sequence[str] = ("why",)
) -> list[str]:
    """Return what `why` tells at each stop."""
    told: list[str] = []
    stops(main, filter_id, lambda session: told.extend(map(session.type, questions)), *lines)
    return told


@pytest.mark.parametrize("name", one_in(5, CASES))
def test_the_guard_its_values_and_its_line(name: str) -> None:
    told, label, tried = CASES[name]
    (answer,) = answers(name)
    (entry,) = (line for line in answer.splitlines() if line.startswith(("0/0: ", "1/0: ")))
    assert entry[5:].startswith(told) or (name == "enum" and "must be Color.RED, and is Color.BLUE" in entry), answer
    lines = [f"{path_of(name).name}:{LABELS[each]} needs this" for each in label.split()]
    assert any(line in entry for line in lines or [NO_LINE[name]]), answer
    attempts = [line.removeprefix("tried: ") for line in answer.splitlines() if line.startswith("tried: ")]
    assert bool(attempts) == bool(tried), answer
    assert not tried or attempts[0].startswith(tried.format(**LABELS)), answer
    assert attempts or "not tried: " in answer
    assert "limit: 2 of 8 compiles" in answer


def test_each_cache_entry_is_told() -> None:
    _, second = answers("int_three_times")
    assert second.splitlines()[:3] == [
        "repeated is compiled again [0/2]:",
        f"0/1: n must be 5, and is 7 (recompiled.py:{LABELS['loop']} needs this).",
        f"0/0: n must be 2, and is 7 (recompiled.py:{LABELS['loop']} needs this).",
    ]
    assert f"is still there, because recompiled.py:{LABELS['loop']} needs Eq(n, 7)" in second
    assert "limit: 3 of 8" in second


def test_an_optimizer_takes_a_step_before_it_is_compiled() -> None:
    (answer,) = answers("first_step")
    assert "hint: An optimizer fills its state in its first step" in answer
    assert "not tried: the optimizer would have to take a step." in answer


def test_a_loop_over_layers() -> None:
    first, second = answers("layers")
    assert "0/0: x.requires_grad must be False, and is True" in first
    assert "0/1: self.step must be 5, and is 7" in second and "0/0: x.requires_grad must be" in second


def test_other_arguments_that_differ() -> None:
    (answer,) = answers("both")
    assert "0/0: n must be 2, and is 5" in answer
    assert "arguments since 0/0: x was f32[3], and is f32[4]." in answer


def test_another_size_of_the_same_argument_that_differs() -> None:
    (answer,) = answers("two_sizes")
    assert "0/0: x.size()[0] must be 3, and is 5" in answer
    assert "arguments since 0/0: x was f32[3, 4], and is f32[5, 6]." in answer


def test_the_line_may_be_in_a_library() -> None:
    (answer,) = answers("library")
    assert "0/0: x.size()[0] must be 3, and is 4 (activation.py:" in answer


def test_a_size_of_one_that_must_fit_another_cannot_be_unbacked() -> None:
    """With the mark the program fails: torch takes it that no size is spread."""
    (answer,) = answers("one_added")
    assert f"tried: {UNBACKED.partition(', x.s')[0]}, the guard is still there" in answer


def split(x: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    return torch.split(x, sizes)[0].sum()


def test_a_number_that_is_computed_from_another_is_not_fixed() -> None:
    torch._dynamo.reset()
    compiled, x = torch.compile(split, backend="eager"), torch.arange(6.0)
    with asking_at_recompiles() as told:
        for sizes in ([2, 4], [3, 3], [4, 2], [1, 5]):
            compiled(x, sizes)
    ((_, answer),) = told
    assert "this compile: sizes[0] is computed: it is 6 - sizes[1], and the guard is gone." in answer, answer


def scaled_if_asked(x: torch.Tensor, n: int, flag: bool) -> torch.Tensor:
    return x * n if flag else x + 1


def test_a_number_that_this_compile_does_not_use() -> None:
    torch._dynamo.reset()
    compiled, x = torch.compile(scaled_if_asked, backend="eager"), torch.ones(3)
    with asking_at_recompiles() as told:
        compiled(x, 3, True)
        compiled(x, 4, False)
    ((_, answer),) = told
    assert "this compile: no guard is on n." in answer, answer


def of_few_rows(x: torch.Tensor) -> torch.Tensor:
    torch._check(x.size(0) < 100)
    return x * 2


def test_what_a_size_without_a_guard_must_fulfil() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(of_few_rows, backend="eager")
    with asking_at_recompiles() as told:
        compiled(torch.ones(1, 3))
        compiled(torch.ones(5, 3))
    ((_, answer),) = told
    assert f"{UNBACKED} is dynamic in [0, " in answer, answer
    assert "and the guard is gone, but a call raises unless" in answer, answer


def added(x: torch.Tensor) -> torch.Tensor:
    return x + 1


ADDED = torch.compile(added, backend="eager")
SIZES = [5, 4]


def compiles_another(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    comptime(lambda context: ADDED(torch.ones(SIZES.pop())))
    return y + 1


def test_in_a_compile_within_which_another_has_begun() -> None:
    session = ScriptedSession()
    told: list[str] = []
    session.at_stop = lambda stopped: told.append(stopped.type("why"))
    with session.attached():
        session.break_at(__file__, compiles_another.__code__.co_firstlineno + 3)
        for size in (2, 3):
            torch.compile(compiles_another, backend="eager")(torch.ones(size))
    first, second = told
    assert "first compile" in first and "not tried: Another compile has begun within this one." in second, told


def test_a_recompile_within_a_compile() -> None:
    torch._dynamo.reset()
    inner = torch.compile(added, backend="eager")

    def backend(graph: torch.fx.GraphModule, inputs: Sequence[torch.Tensor]) -> Callable[..., Any]:
        for size in (3, 4):
            inner(torch.ones(size))
        return graph.forward

    with asking_at_recompiles() as told:
        torch.compile(lambda x: x * 2, backend=backend)(torch.ones(2))
    ((_, answer),) = told
    assert "1/0: x.size()[0] must be 3, and is 4" in answer, answer


def test_code_for_another_backend() -> None:
    (answer,) = answers("backends")
    assert "0/0: all its guards are true, but it is for the backend eager, and this compile is for aot_eager." in answer


def test_at_a_later_stop_in_another_state() -> None:
    answer = answers("inside", None, LABELS["inside"])[-1]
    assert "0/0: n must be 2, and is 5" in answer and "grad_mode" not in answer


def test_the_first_compile_and_one_after_a_reset() -> None:
    first, second = answers("reset", "recompile", LABELS["size"])
    assert first == "This is the first compile of sized."
    assert second.startswith("sized was compiled before [0/0], but no code of it is left: torch._dynamo.reset()")


def test_the_first_compile_of_the_rest_of_a_function() -> None:
    rest = f"what follows line {LABELS['break']} of broken"
    told = answers("after_break", None, LABELS["after_break"])
    assert told[0] == f"This is the first compile of {rest}."
    assert told[-1].startswith(f"{rest} is compiled again [1/1]:")


def test_at_the_limit() -> None:
    (answer,) = answers("limit", "recompileLimit")
    assert answer.startswith("repeated is not compiled here:\n0/1: n must be 5, and is 7 (")
    assert "not tried: Dynamo does not trace this frame." in answer and "limit: 2 of 2 compiles" in answer
    limit = "(torch._dynamo.config.recompile_limit). After that, a call that fits no compiled code runs uncompiled"
    assert limit in answer


def test_a_value_of_another_kind_cannot_be_dynamic() -> None:
    (answer,) = answers("complex")
    assert "not tried: Dynamo makes only ints and floats dynamic." in answer
    assert 'With `torch.compiler.set_stance("eager_on_recompile")` before it this call runs uncompiled' in answer


def test_what_cannot_be_undone_is_said_first() -> None:
    first, second = answers("comptime", questions=("why", "why"))
    assert "not tried: To try this, " in first and "`comptime` would run" in first
    assert "tried: with `dynamic=True`, n is dynamic" in second


def test_a_variable_of_that_name() -> None:
    variable, answer = answers("named_why", questions=("why", "why?"))
    assert "compiled again" not in variable and "0/0: why must be 2, and is 5" in answer


def test_an_object_that_is_gone() -> None:
    (answer,) = answers("freed")
    assert "0/0: torch has dropped this code: Cache line invalidated because function.__code__ got deal" in answer


@pytest.mark.parametrize("name", one_in(5, [name for name, case in CASES.items() if case.tried]))
def test_what_is_told_of_a_remedy_is_true(name: str) -> None:
    """Each remedy is applied to the whole program; it compiles once if the guard was told to be gone.

    The results are those of a program that is not compiled.
    """
    (answer,) = answers(name)
    with mock.patch.object(torch, "compile", lambda function=None, **options: function or (lambda each: each)):
        plain = str(getattr(load(path_of(name)), f"main_{name}")())
    for line in answer.splitlines():
        if line.startswith("tried: "):
            count, output = compiles(name, line)
            is_told = "the guard is gone" in line and "still fixed" not in line
            assert (count == 1) == is_told and output == plain, (count, output, plain, line)
    (instead,) = [line for line in answer.splitlines() if line.startswith("instead: ")]
    assert compiles(name, instead) == (1, plain)


def compiles(name: str, remedy: str) -> tuple[int, str]:
    """Return how often the program compiles the function with a remedy, and its results."""
    count, output = remedies.compiles(path_of(name), name, remedy)
    return count - (name == "after_break"), output
