"""A realistic store without torch: what a run of a small model with two blocks leaves behind, written to any folder."""

from __future__ import annotations

import time
from pathlib import Path

from dynascope.facts import model
from dynascope.facts.generated.model import NO_STACK, Bytecode, Graph, GraphNode, LaterForm
from dynascope.facts.profile import NO_PARENT, Phase, Profile
from dynascope.facts.store import FILE_NAME, FOLDER_NAME
from dynascope.facts.user_stack import UserFrame
from dynascope.facts.writer import Writer

MODEL = """\
import torch
from layers import gate


class Block(torch.nn.Module):
    def forward(self, x, scale):
        h = self.norm(x)
        h = gate(h)
        return x + h * scale


class Model(torch.nn.Module):
    def forward(self, x):
        for block in self.blocks:
            x = block(x, 2)
        print("done")
        return x.sum()


model = torch.compile(Model())
"""
LAYERS = """\
import torch


def gate(h):
    if h.sum() > 0:
        h = h.relu()
    n = h.max().item()
    return h * n
"""
BRANCH = {
    "registry_id": "GB0170",
    "type": "Data-dependent branching",
    "reason": "Data-dependent branching\n  Explanation: Detected data-dependent branching.",
    "explanation": "Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`).",
    "hints": ["Use `torch.cond` to express dynamic control flow."],
}


def write_workspace(folder: Path) -> tuple[Path, Path]:
    """Put the two source files there; their paths."""
    paths = folder.resolve() / "model.py", folder.resolve() / "layers.py"
    for path, text in zip(paths, (MODEL, LAYERS), strict=True):
        path.write_text(text)
    return paths


def new_run(folder: Path, launch: str = "launch 1", program: str = "train.py --steps 2") -> model.Run:
    return model.Run(
        launch=launch,
        program=program,
        folder=str(folder),
        host="workstation",
        pid=4711,
        python_version="3.12.4",
        torch_version="2.13.0",
        began=time.time(),
    )


def graph_of_first(model_path: str, layers_path: str) -> Graph:
    """The graph of `first_compile`: `x` and a weight, then the norm, and the sum in the function that it calls."""
    norm = "layer_norm = torch.nn.functional.layer_norm(l_x_, (16,), l_self_weight_)"
    return Graph(
        name="forward",
        nodes=[
            GraphNode("l_x_", "placeholder", "L_x_", "", "f32[8, 16]", [], NO_STACK, source="x"),
            GraphNode("l_self_weight_", "placeholder", "w", "", "f32[16]", [], NO_STACK, source="blocks.0.norm.weight"),
            GraphNode("layer_norm", "call_function", "layer_norm", norm, "f32[8, 16]", [0, 1], 0, "blocks.0.norm"),
            GraphNode("sum_1", "call_method", "sum", "sum_1 = layer_norm.sum()", "f32[]", [2], 1, "blocks.0"),
            GraphNode("gt", "call_function", "operator.gt", "gt = sum_1 > 0", "b8[]", [3], 1, "blocks.0"),
            GraphNode("output", "output", "output", "return (gt,)", "", [4], NO_STACK),
        ],
        stacks=[
            [UserFrame(model_path, 7, "Block.forward"), UserFrame(model_path, 15, "Model.forward")],
            [
                UserFrame(layers_path, 5, "gate"),
                UserFrame(model_path, 8, "Block.forward"),
                UserFrame(model_path, 15, "Model.forward"),
            ],
        ],
    )


def profile(seconds: float) -> Profile:
    """Where the time of a compile by Inductor went: a phase in each part of the compiler."""
    names = (
        "build_guards",
        "create_aot_dispatcher_function",
        "compile_fx_inner",
        "async_compile.wait",
        "backend_compile",
    )
    phases = [Phase(NO_PARENT, "entire_frame_compile", 0.0, seconds)]
    phases += [Phase(0, name, seconds * at / 6, seconds / 6) for at, name in enumerate(names)]
    return Profile(0.0, [], phases)


def first_compile(model_path: str, layers_path: str) -> model.CompileFacts:
    """`Model.forward [0/0]`: it breaks in `gate`, which `Block.forward` calls."""
    stack = [
        UserFrame(model_path, 15, "Model.forward"),
        UserFrame(model_path, 8, "Block.forward"),
        UserFrame(layers_path, 5, "gate"),
    ]
    return model.CompileFacts(
        compile=model.Compile(
            compile_id="0/0",
            attempts=2,
            function="Model.forward",
            path=model_path,
            line=13,
            backend="inductor",
            status="compiled",
            began=time.time(),
            seconds=1.25,
            backend_seconds=0.75,
            graphs=1,
            nodes=7,
        ),
        calls=[
            model.InlinedCall(id=0, parent=None, function="Model.forward", path=model_path, line=13, first_line=13),
            model.InlinedCall(
                id=1,
                parent=0,
                function="Block.forward",
                path=model_path,
                line=6,
                first_line=6,
                call_path=model_path,
                call_line=15,
                count=2,
            ),
            model.InlinedCall(
                id=2,
                parent=1,
                function="gate",
                path=layers_path,
                line=4,
                first_line=4,
                call_path=model_path,
                call_line=8,
                count=2,
            ),
        ],
        tensors=[
            model.TracedTensor(
                path=model_path, line=13, name="x", value="f32[8, 16]", role="parameter", node="l_x_", origin="L['x']"
            ),
            model.TracedTensor(path=model_path, line=6, name="x", value="f32[8, 16]", role="parameter", count=2),
            model.TracedTensor(path=model_path, line=7, name="h", value="f32[8, 16]", node="layer_norm", count=2),
            model.TracedTensor(path=model_path, line=8, name="h", value="f32[8, 16]", node="mul", count=2),
            model.TracedTensor(path=layers_path, line=6, name="h", value="f32[8, 16]", node="relu", count=2),
        ],
        graph_breaks=[
            model.GraphBreak(path=layers_path, line=5, function="gate", stack=stack, count=2, **BRANCH),
        ],
        guards=[
            model.Guard(
                path=model_path,
                line=7,
                expression="L['x']",
                kind="TENSOR_MATCH",
                code=["check_tensor(L['x'], Tensor, torch.float32, size=[8, 16])"],
            ),
            model.Guard(path="", line=0, expression="", kind="GRAD_MODE", code=[]),
        ],
        line_times=[
            model.LineTime(path=model_path, line=15, seconds=0.01, visits=2),
            model.LineTime(path=model_path, line=7, seconds=0.12, visits=2),
            model.LineTime(path=layers_path, line=5, seconds=0.2, visits=2),
        ],
        graphs=[graph_of_first(model_path, layers_path)],
        forms=[
            LaterForm("inference graph", "by AOTAutograd", [graph_of_first(model_path, layers_path)]),
            LaterForm("output code", "by Inductor", text=f"# File: {model_path}:7 in Block.forward\nbuf0 = mm(arg0)"),
        ],
        bytecode=Bytecode("Model.forward, from model.py:13\n\n  2 LOAD_GLOBAL 1 (NULL + __compiled_fn_1)\n"),
    )


def second_compile(model_path: str, layers_path: str) -> model.CompileFacts:
    """`Model.forward [0/1]`: another batch size made the first dimension dynamic; the backend fails on it."""
    return model.CompileFacts(
        compile=model.Compile(
            compile_id="0/1",
            function="Model.forward",
            path=model_path,
            line=13,
            backend="inductor",
            reason="0/0: tensor 'x' size mismatch at index 0. expected 8, actual 12",
            status="failed",
            failure="BackendCompilerFailed: no kernel for aten::frobnicate",
            began=time.time(),
            seconds=0.5,
            graphs=0,
        ),
        tensors=[
            model.TracedTensor(
                path=model_path, line=13, name="x", value="f32[s77, 16]", role="parameter", node="l_x_", origin="L['x']"
            ),
            model.TracedTensor(path=model_path, line=7, name="h", value="f32[s77, 16]", node="layer_norm", count=2),
        ],
        symbols=[
            model.Symbol(
                path=model_path, line=13, name="s77", hint="12", low="2", high="oo", origins=["L['x'].size()[0]"]
            ),
        ],
        recompiles=[
            model.Recompile(
                path=model_path,
                line=13,
                function="Model.forward",
                failed_compile_id="0/0",
                guard="tensor 'x' size mismatch at index 0. expected 8, actual 12",
                value="x: f32[12, 16]",
                guard_path=model_path,
                guard_line=7,
            ),
        ],
        specializations=[
            model.Specialization(
                path=layers_path,
                line=8,
                symbol="s21",
                value="1",
                reason="0/1 specialization",
                origins=["L['scale']"],
                stack=[UserFrame(layers_path, 8, "gate")],
            ),
        ],
        backend_failures=[
            model.BackendFailure(
                path=model_path,
                line=17,
                backend="inductor",
                exception="RuntimeError",
                message="no kernel for aten::frobnicate",
            ),
        ],
    )


def skipped_frame(model_path: str) -> model.CompileFacts:
    return model.CompileFacts(
        compile=model.Compile(
            compile_id="",
            function="log_step",
            path=model_path,
            line=20,
            status="skipped",
            skip_reason="torch.compile intentionally skipped the function in a file that it never traces",
            began=time.time(),
            seconds=0.0,
        )
    )


def write_sample(folder: Path, launch: str = "launch 1") -> Path:
    """Source files and a store with one ended run; the store's path."""
    model_path, layers_path = map(str, write_workspace(folder))
    store = folder / FOLDER_NAME / FILE_NAME
    writer = Writer(store, new_run(folder, launch))
    writer.write(first_compile(model_path, layers_path))
    writer.write(second_compile(model_path, layers_path))
    writer.write(skipped_frame(model_path))
    writer.close()
    return store
