"""What AOTAutograd and Inductor made of a graph, as documents whose lines lead back to the program's, and forward."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from dynascope.agent.events.named_forms import Kernels, placed_code
from dynascope.console import BadCommand

from tests.support.agent.scripted_session import ScriptedSession

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="Inductor needs a C++ compiler")
GRAPHS = ["graph", "joint graph", "forward graph", "backward graph", "saved values"]
INDUCTOR = [*GRAPHS, "post-grad graph", "output code"]
BACKWARD = ["backward post-grad graph", "backward output code"]


def helper(t: torch.Tensor) -> torch.Tensor:
    return t.exp()  #: helper


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)  #: linear
        z = helper(y)  #: called
        return (z.cos() + y).sum()  #: cos


LINES = {
    match[1]: number
    for number, text in enumerate(Path(__file__).read_text().splitlines(), 1)
    if (match := re.search(r"#: (\w+)$", text))
}


@pytest.fixture(autouse=True)
def no_caches() -> Iterator[None]:
    from torch._inductor.utils import fresh_inductor_cache

    torch._dynamo.reset()
    with fresh_inductor_cache():
        yield


class Forms:
    """The forms that a session has kept."""

    def __init__(self, session: ScriptedSession) -> None:
        self._reading = session.agent.session.loaded_sources

    def names(self) -> list[str]:
        names = (source.name or "" for source in self._reading.sources())
        return [name.partition("] ")[2] for name in names if name.endswith(("graph", "output code", "saved values"))]

    def ask(self, question: str) -> str:
        return self._reading.forms(question)

    def text(self, form: str) -> str:
        found = next(source for source in self._reading.sources() if (source.name or "").endswith(f"] {form}"))
        return self._reading.text(found.source_reference or 0).content

    def made_of(self, label: str) -> dict[str, list[str]]:
        """The statements of each form that are from the line with this label."""
        made: defaultdict[str, list[str]] = defaultdict(list)
        form = ""
        for row in self.ask(f"from {__file__}:{LINES[label]}").splitlines():
            if row.startswith(" "):
                made[form].append(row.split(maxsplit=1)[1])
            else:
                form = row.partition("] ")[2]
        return made


@contextlib.contextmanager
def compiled(function: Any, backend: str) -> Iterator[tuple[Callable[..., Any], Forms]]:
    session = ScriptedSession()
    with session.attached():
        yield torch.compile(function, backend=backend), Forms(session)


@pytest.fixture(scope="module")
def trained() -> tuple[Forms, list[str], list[list[str]]]:
    """The forms of a model's forward and backward, what torch printed of them, and their names after each."""
    if shutil.which("g++") is None:
        pytest.skip("Inductor needs a C++ compiler")
    from torch._inductor.output_code import CompiledFxGraph
    from torch._inductor.utils import fresh_inductor_cache

    printed: list[str] = []
    original = CompiledFxGraph.post_compile

    def note(self: Any, *args: Any, **kwargs: Any) -> None:
        printed.append(self.inductor_post_grad_graph_str)
        original(self, *args, **kwargs)

    torch._dynamo.reset()
    with fresh_inductor_cache(), pytest.MonkeyPatch.context() as patch, compiled(Model(), "inductor") as (model, forms):
        patch.setattr(CompiledFxGraph, "post_compile", note)
        loss = model(torch.randn(3, 4))
        names = forms.names()
        loss.backward()
        return forms, printed, [names, forms.names()]


@pytest.mark.matrix
def test_each_form_of_a_model_that_is_trained(trained: Any) -> None:
    forms, _, names = trained
    assert names == [INDUCTOR, INDUCTOR + BACKWARD]
    listed = [row.partition(":")[0].partition("] ")[2] for row in forms.ask("0/0").splitlines()]
    assert [name for name in listed if not name.endswith("cache key")] == forms.names()
    not_cached = "Model.forward [0/0] backward cache key: not in Inductor's cache, and the first backward"
    assert f"\n{not_cached}" in forms.ask("0/0")
    assert "aten.addmm" in forms.text("forward graph") and "aten.addmm" not in forms.text("backward graph")
    assert "extern_kernels.addmm(" in forms.text("output code")
    for form in forms.names():
        compile(forms.text(form), form, "exec")


@pytest.mark.matrix
def test_from_a_line_of_the_program_to_all_that_was_made_of_it(trained: Any) -> None:
    forms, _, _ = trained
    linear, called, cos = forms.made_of("linear"), forms.made_of("called"), forms.made_of("cos")
    assert set(linear) == {*INDUCTOR, *BACKWARD}
    assert any("aten.addmm" in line for line in linear["forward graph"])
    assert [line for line in linear["output code"] if line.startswith("extern_kernels.addmm(")]
    assert any(line.startswith("extern_kernels.mm(") for line in linear["backward output code"])
    assert not any("extern_kernels" in line for line in called["backward output code"] + cos["output code"])
    for made in (called, forms.made_of("helper")):  # the call has what its function has
        assert [line.partition(" = ")[0] for line in made["forward graph"]] == ["exp"]
        assert any("aten.mul" in line for line in made["backward graph"])
    for form in ("output code", "backward output code"):
        kernels = {line.partition("(")[0] for line in called[form] if line.startswith("cpp_fused") and "=" not in line}
        assert kernels and all("exp" in forms.text(form).partition(kernel)[2] for kernel in kernels)
    assert "aten.cos" in cos["joint graph"][0] and any("aten.sin" in line for line in cos["joint graph"])
    assert not any("aten.cos" in line for line in called["joint graph"])


def test_from_a_line_of_a_form_to_the_program(trained: Any) -> None:
    forms, _, _ = trained
    numbered = {line.split()[1]: line.split()[0] for line in forms.ask("0/0 forward graph").splitlines() if "=" in line}
    assert forms.ask(f"0/0 forward graph:{numbered['exp']}").splitlines()[1:] == [
        f"{__file__}:{LINES['helper']} in helper: return t.exp()  #: helper",
        f"{__file__}:{LINES['called']} in forward: z = helper(y)  #: called",
    ]
    assert f"# File: {__file__}:{LINES['linear']} in forward, code: y = self.linear(x)" in forms.text("output code")
    assert "no line of the program" in forms.ask("0/0 forward graph:2")
    for question, told in (("0/0 graphic", "Which?"), ("0/0 joint graph:999", "has "), ("from model.py", "Ask `forms")):
        with pytest.raises(BadCommand, match=told):
            forms.ask(question)


def test_the_places_are_those_that_torch_prints(trained: Any) -> None:
    """torch prints the innermost frame of each node of the post-grad graph into a text that it keeps with its code."""
    forms, printed, _ = trained
    for text, form in zip(printed, ["post-grad graph", "backward post-grad graph"], strict=True):
        assert places_by_node(forms.text(form)) == places_by_node(text)


def places_by_node(text: str) -> dict[str, str]:
    """The comment `# File: …` above each node."""
    found: dict[str, str] = {}
    place = ""
    for line in text.splitlines():
        if (comment := re.match(r" +# (?:Backward of forward node: )?File: (.+?), code", line)) is not None:
            place = comment[1]
        elif (node := re.match(r" +(\w+)(?:: \".*?\")? = ", line)) is not None:
            found[node[1]] = place
    assert len(found) > 3
    return found


@needs_compiler
def test_what_comes_from_a_cache_says_so() -> None:
    def double(x: torch.Tensor) -> torch.Tensor:
        return x.sin() * 2

    x = torch.randn(3, requires_grad=True)
    torch.compile(double)(x).sum().backward()
    torch._dynamo.reset()
    with compiled(double, "inductor") as (function, forms):
        function(x).sum().backward()
        assert forms.names() == ["graph", "joint graph", "post-grad graph", "output code", *BACKWARD]
        assert re.search(r"found its result in its cache, key \w{20,}", forms.text("joint graph"))
        line = double.__code__.co_firstlineno + 1
        made = forms.ask(f"from test_later_forms.py:{line}")
        for form, operation in (("post-grad graph", "aten.sin"), ("backward post-grad graph", "aten.cos")):
            first, *_ = forms.text(form).splitlines()
            assert re.fullmatch(rf"# double \[0/0\] {form}: from Inductor's cache, key \w{{20,}}", first)
            assert operation in made.partition(f"] {form}\n")[2].partition("\ndouble [")[0]
        assert "does not tell what lines the kernels are from" in forms.text("output code").partition("\n")[0]


@pytest.mark.matrix
@needs_compiler
def test_branches_of_a_conditional() -> None:
    def branch(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.cos() * 2, lambda x: x.exp() + 1, (x,))

    first = branch.__code__.co_firstlineno
    with compiled(branch, "inductor") as (function, forms):
        function(torch.ones(3))
        made = forms.ask(f"from test_later_forms.py:{first + 1}")
        assert "aten.cos" in made and "aten.exp" in made
        calls = re.findall(r"^ +\d+  (cpp_fused\w+)\(", made.partition("] output code\n")[2], re.MULTILINE)
        assert any("cos" in name for name in calls) and any("exp" in name for name in calls)


def test_output_code_with_triton_kernels() -> None:
    """A kernel that two lines share is defined once: each call has its own line, and the definition both."""
    code = """async_compile = AsyncCompile()
triton_poi_fused_sin_0 = async_compile.triton('triton_poi_fused_sin_0', '''
import triton

def triton_poi_fused_sin_0(in_ptr0):
    tmp0 = tl.load(in_ptr0)
''', device_str='cuda')

async_compile.wait(globals())
def call(args):
    with torch.cuda._DeviceGuard(0):
        buf0 = empty_strided_cuda((3, ), (1, ), torch.float32)
        stream0 = get_raw_stream(0)
        triton_poi_fused_sin_0.run(arg0_1, buf0, stream=stream0)
        buf1 = empty_strided_cuda((3, ), (1, ), torch.float32)
        triton_poi_fused_sin_0.run(buf0, buf1, stream=stream0)
        buf2 = buf0; del buf0  # reuse
        extern_kernels.mm(buf1, arg1_1, out=buf2)
    return (buf2, )
"""
    stacks = [f'  File "/p/model.py", line {line}, in f\n    y = {line}\n' for line in (1, 2, 3)]
    kernels = Kernels(
        {"triton_poi_fused_sin_0": [[stacks[0]], [stacks[1]]]}, {"buf1": [stacks[1]], "buf2": [stacks[2]]}
    )
    lines = list(placed_code(code, kernels, lambda path: True))
    assert [line.text for line in lines if "# File" not in line.text] == code.split("\n")
    known = {line.text.strip(): [place.line for place in line.places] for line in lines if line.places}
    assert known["def triton_poi_fused_sin_0(in_ptr0):"] == known["tmp0 = tl.load(in_ptr0)"] == [1, 2]
    called = {text: found for text, found in known.items() if "stream=" in text or "extern" in text}
    assert list(called.values()) == [[1], [2], [3]]
    assert not {"buf0 = empty_strided_cuda((3, ), (1, ), torch.float32)", "return (buf2, )"} & known.keys()


def test_other_backends() -> None:
    with compiled(Model(), "aot_eager") as (model, forms):
        model(torch.randn(3, 4)).backward()
        assert forms.names() == GRAPHS
    torch._dynamo.reset()
    with compiled(Model(), "eager") as (model, forms):
        with pytest.raises(BadCommand, match="only compiles that begin afterwards"):
            forms.ask("all")
        model(torch.randn(3, 4))
        assert forms.names() == ["graph"] and "No later form" in forms.ask("0/0")
        with pytest.raises(BadCommand, match=r"those of: 0/0\.$"):
            forms.ask("7/0")
        with pytest.raises(BadCommand, match=r"Nothing .* is from test_later_forms.py:1\.$"):
            forms.ask("from test_later_forms.py:1")


@needs_compiler
def test_a_debugger_that_comes_between_forward_and_backward() -> None:
    model = torch.compile(Model())
    loss = model(torch.randn(3, 4))
    session = ScriptedSession()
    with session.attached():
        loss.backward()
        names = [source.name for source in session.agent.session.loaded_sources.sources()]
    made = ["backward cache key", "backward post-grad graph", "backward output code"]
    assert names == [f"compiled code [0/0] {name}" for name in made]


@needs_compiler
def test_torchs_own_callback_is_restored() -> None:
    from torch._inductor.graph import GraphLowering

    before = GraphLowering.__dict__["save_output_code"]
    with compiled(Model(), "inductor") as (model, _):
        model(torch.randn(3, 4))
        assert GraphLowering.__dict__["save_output_code"] is not before
    assert GraphLowering.__dict__["save_output_code"] is before
