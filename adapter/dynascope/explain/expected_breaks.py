"""Make the problems of graph breaks that are expected before a program has run: they read as they will once recorded.

The texts are Dynamo's own, as torch 2.13 has them, where they do not depend on what is known in a run.
"""

from __future__ import annotations

from msgspec import Struct, structs

from dynascope.explain.graph_breaks import graph_breaks
from dynascope.explain.of_launch import apart
from dynascope.explain.problem import Identities, Place, Problem, fitting
from dynascope.facts import model


class _Expected(Struct, frozen=True):
    """A kind of graph break."""

    type: str
    """Its name in the registry; where that is not the same in all cases, what happens."""
    explanation: str
    """`{called}` stands for what is called."""
    hint: str = ""
    registry_id: str | None = None


_BUILTIN = "Failed to trace builtin operator"
_UNKNOWN_BUILTIN = "Dynamo does not know how to trace builtin operator `{called}`."
_SKIPPED = "Attempted to call function marked as skipped"
_LOGGED = (
    "If you are attempting to call a logging function (e.g. `print`), you can try adding it to "
    "`torch._dynamo.config.reorderable_logging_functions`."
)
_OUTSIDE = "Move it out of the compiled function."
_RULES: dict[str, _Expected] = {
    "branch": _Expected(
        "Data-dependent branching",
        "Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Dynamo does not support tracing dynamic "
        "control flow.",
        "Use `torch.cond` to express dynamic control flow.",
        "GB0170",
    ),
    "item": _Expected(
        "Unsupported Tensor.item() call with capture_scalar_outputs=False",
        "Dynamo does not support tracing `Tensor.item()` with config.capture_scalar_outputs=False.",
        "Set `torch._dynamo.config.capture_scalar_outputs = True` or `export TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1` "
        "to include these operations in the captured graph.",
        "GB0124",
    ),
    "tolist": _Expected(
        "Tensor.tolist() with non-integer tensor",
        "Dynamo currently does not support tracing `tolist()` on non-integer tensors.",
        registry_id="GB0109",
    ),
    "dynamic shape": _Expected(
        "Dynamic shape operator",
        "Operator `{called}`'s output shape depends on input Tensor data.",
        "Enable tracing of dynamic shape operators with `torch._dynamo.config.capture_dynamic_output_shape_ops = True`",
        "GB0036",
    ),
    "data dependent operator": _Expected(
        "Data dependent operator",
        "Operator `{called}` has a non-Tensor output whose value is dependent on the data of Tensor inputs.",
        "Enable tracing of data-dependent output operators with `torch._dynamo.config.capture_scalar_outputs = True`",
        "GB0033",
    ),
    "print": _Expected(_BUILTIN, _UNKNOWN_BUILTIN, _LOGGED, "GB0059"),
    "breakpoint": _Expected(
        _BUILTIN,
        f"{_UNKNOWN_BUILTIN} The program stops there once the graph that ends above it has been compiled and has run.",
        registry_id="GB0059",
    ),
    "builtin": _Expected(_BUILTIN, _UNKNOWN_BUILTIN, registry_id="GB0059"),
    "skipped": _Expected(
        _SKIPPED,
        "Dynamo does not know how to trace the builtin `{called}`.",
        registry_id="GB0007",
    ),
    "logging": _Expected(
        "logging.Logger method not supported for non-export cases",
        "logging.Logger methods are not supported for non-export cases.",
        registry_id="GB0291",
    ),
    "warning": _Expected(
        _SKIPPED, "Dynamo does not know how to trace the Python builtin `_warnings.warn`.", _LOGGED, "GB0007"
    ),
    "disabled": _Expected(
        "Skip calling `torch.compiler.disable()`d function",
        "Skip calling function `{called}` since it was wrapped with `torch.compiler.disable`.",
        "Remove the `torch.compiler.disable` call",
        "GB0098",
    ),
    "graph_break": _Expected(
        "Call to `torch._dynamo.graph_break()`",
        "User-inserted graph break.",
        "Remove the `torch._dynamo.graph_break()` call.",
        "GB0025",
    ),
    "backward": _Expected(
        "Unsupported Tensor.backward() call",
        "Dynamo currently does not support tracing `Tensor.backward()` when trace_autograd_ops is off.",
        "Set torch._dynamo.trace_autograd_ops=True",
        "GB0123",
    ),
    "autograd": _Expected(
        "using `torch.autograd.grad` with `torch._dynamo.config.trace_autograd_ops=False`",
        "Attempted to call `torch.autograd.grad` with config `torch._dynamo.config.trace_autograd_ops` set to `False`.",
        "Change `torch._dynamo.config.trace_autograd_ops` to `True`.",
        "GB9186",
    ),
    "text": _Expected("a tensor is written as text", "Its values do not exist while Dynamo traces.", _OUTSIDE),
    "rnn": _Expected(
        "Attempted to wrap RNN, GRU, or LSTM",
        "Dynamo does not support RNN, GRU, or LSTM.",
        "Set torch._dynamo.config.allow_rnn=True to enable experimental support for RNN, GRU, and LSTM in Dynamo",
        "GB0014",
    ),
    "assertion": _Expected(
        "Data-dependent branching",
        "Dynamo puts assertions into the graph only when their message is a literal.",
        registry_id="GB0170",
    ),
    "deepcopy": _Expected(
        "Attempted to copy.deepcopy a tensor",
        "Dynamo does not support copy.deepcopy() on tensors.",
        "Avoid calling copy.deepcopy() on tensors inside compiled regions.",
        "GB4198",
    ),
    "module made": _Expected(
        "Attempted to use `torch.nn.Parameter()` constructor with Dynamo",
        "Dynamo does not support this",
        "Try to construct `torch.nn.Parameter()` outside the compiled region.",
        "GB0264",
    ),
    "tensor method": _Expected(
        "Dynamo does not trace this method of tensors", "It needs the tensor's data, or changes its memory."
    ),
    "class made": _Expected(
        "Invalid call to __build_class__",
        "Cannot trace class definition: the class body function is unsupported or the base class argument are not "
        "compile-time constants",
        registry_id="GB8977",
    ),
    "optimizer": _Expected(
        "an optimizer, a scheduler or a scaler is called",
        "Dynamo runs it as plain Python here.",
        "Call it outside of the compiled function, or compile a function that does nothing else.",
    ),
    "random": _Expected(
        "a random number that Dynamo does not trace",
        "Dynamo traces `random.randint`, `randrange` and `uniform`, and NumPy's functions that give arrays.",
        "Use `torch.rand` or `torch.randint`, or draw the number outside of the compiled function.",
    ),
    "random branch": _Expected(
        "a branch on a random number",
        "Dynamo cannot know at compile time which way it goes.",
        "Draw the number outside of the compiled function, or use `torch.where` to choose between values.",
    ),
}
"""By the name of the rule that expects it."""


def expected_break(rule: str, called: str, place: Place, function: str, identities: Identities) -> Problem:
    """Return what a rule expects at a line, with the id that it will have once recorded."""
    known = _RULES[rule]
    fact = model.GraphBreak(
        path=place.path,
        line=place.line,
        source=place.source,
        function=function,
        registry_id=known.registry_id,
        type=known.type,
        reason=known.type,
        explanation=known.explanation.format(called=called),
        hints=[known.hint] if known.hint else [],
    )
    (problem,) = graph_breaks(apart([fact]), {}, identities)
    return structs.replace(problem, title=fitting(problem.title.replace("Graph break", "Graph break expected", 1)))
