"""List the calls that break the graph.

Each rule was observed on torch 2.13; tests/lsp/corpus checks those in it on 2.11 and 2.15, too. A registry id is given
where it is the same in all of them.
"""

from __future__ import annotations

from msgspec import Struct, field


class Rule(Struct, frozen=True):
    """A kind of graph break, with the texts for the user."""

    name: str
    """Identifies the rule among the reports at one place."""
    title: str
    explanation: str
    hints: list[str] = field(default_factory=list)
    registry_id: str | None = None
    type: str = ""
    unless: tuple[str, ...] = ()
    """Options of `torch._dynamo.config` that make Dynamo trace or ignore it."""
    in_one_graph: bool = True
    """Whether it is an error with `fullgraph=True`: else Dynamo traces it there."""
    skips_the_frame: bool = False
    """Whether Dynamo cannot resume after it: the rest of that function is not compiled."""


_SCALAR_HINT = "Keep it a tensor, or set `torch._dynamo.config.capture_scalar_outputs = True`."

BRANCH = Rule(
    "branch",
    "data-dependent branch",
    "Dynamo cannot know at compile time which way this test on a tensor's values goes.",
    ["Use `torch.cond` to express dynamic control flow, or `torch.where` to choose between values."],
    "GB0170",
    "Data-dependent branching",
)
ITEM = Rule(
    "item",
    "a tensor's value is read into Python",
    "Its value does not exist while Dynamo traces.",
    [_SCALAR_HINT],
    "GB0124",
    "Unsupported Tensor.item() call with capture_scalar_outputs=False",
    unless=("capture_scalar_outputs",),
    in_one_graph=False,
)
TOLIST = Rule(
    "tolist",
    "a tensor's values are read into Python",
    "They do not exist while Dynamo traces.",
    ["Work on the tensor itself, or move this out of the compiled function."],
    type="Tensor.tolist()",
    unless=("capture_scalar_outputs",),
)
DYNAMIC_SHAPE = Rule(
    "dynamic shape",
    "the shape of the result depends on the data",
    "Dynamo cannot know it at compile time.",
    ["Set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`, or keep the shape with `torch.where`."],
    "GB0036",
    "Dynamic shape operator",
    unless=("capture_dynamic_output_shape_ops",),
)
DATA_DEPENDENT = Rule(
    "data dependent operator",
    "the result is a Python value that depends on the data",
    "Dynamo cannot know it at compile time.",
    ["Keep the result a tensor, or move this out of the compiled function."],
    "GB0033",
    "Data dependent operator",
)
PRINT = Rule(
    "print",
    "print() in compiled code",
    "Dynamo does not trace print.",
    [
        "Remove it, or let Dynamo move it after the graph: "
        "`torch._dynamo.config.reorderable_logging_functions.add(print)`."
    ],
    "GB0059",
    "Failed to trace builtin operator",
    unless=("reorderable_logging_functions", "ignore_logging_functions"),
)
BREAKPOINT = Rule(
    "breakpoint",
    "breakpoint() in compiled code",
    "It stops after the graph before it has been compiled and has run, with nothing of what Dynamo knows.",
    ["Set a breakpoint on this line in Dynascope, or use `comptime.breakpoint()`: both stop while Dynamo traces."],
    "GB0059",
    "Failed to trace builtin operator",
)
BUILTIN = Rule(
    "builtin",
    "Dynamo does not trace this builtin",
    "It has no way to run it on values that it does not know.",
    ["Move it out of the compiled function."],
    "GB0059",
    "Failed to trace builtin operator",
)
SKIPPED = Rule(
    "skipped",
    "Dynamo does not trace into this function",
    "It is written in C, or marked as skipped.",
    ["Move the call out of the compiled function."],
    type="Attempted to call function marked as skipped",
)
LOGGING = Rule(
    "logging",
    "logging in compiled code",
    "Dynamo does not trace loggers.",
    ["Guard it with `if not torch.compiler.is_compiling():`, or move it out of the compiled function."],
    type="logging.Logger method not supported for non-export cases",
    unless=("reorderable_logging_functions", "ignore_logging_functions", "ignore_logger_methods"),
)
WARNING = Rule(
    "warning",
    "warnings in compiled code",
    "Dynamo does not trace warnings.",
    ["Guard it with `if not torch.compiler.is_compiling():`, or move it out of the compiled function."],
    type="Attempted to call function marked as skipped",
    unless=("reorderable_logging_functions", "ignore_logging_functions"),
)
DISABLED = Rule(
    "disabled",
    "a function that is disabled for torch.compile is called",
    "Dynamo runs it as plain Python.",
    ["Call it before or after the compiled function, or remove `torch.compiler.disable` from it."],
    "GB0098",
    "Skip calling `torch.compiler.disable()`d function",
)
GRAPH_BREAK = Rule(
    "graph_break", "asked for", "`torch._dynamo.graph_break()`", [], "GB0025", "Call to `torch._dynamo.graph_break()`"
)
BACKWARD = Rule(
    "backward",
    "backward() in compiled code",
    "Dynamo does not trace Tensor.backward().",
    ["Call it outside of the compiled function."],
    "GB0123",
    "Unsupported Tensor.backward() call",
    unless=("trace_autograd_ops",),
)
AUTOGRAD = Rule(
    "autograd",
    "torch.autograd.grad() in compiled code",
    "Dynamo does not trace it.",
    ["Call it outside of the compiled function."],
    type="torch.autograd.grad",
    unless=("trace_autograd_ops",),
)
TEXT = Rule(
    "text",
    "a tensor is written as text",
    "Its values do not exist while Dynamo traces.",
    ["Move this out of the compiled function."],
)
RNN = Rule(
    "rnn",
    "a recurrent layer is called",
    "Dynamo does not trace RNN, GRU and LSTM.",
    ["Set `torch._dynamo.config.allow_rnn = True` to try it."],
    type="Attempted to wrap RNN, GRU, or LSTM",
    unless=("allow_rnn",),
    skips_the_frame=True,
)
ASSERTION = Rule(
    "assertion",
    "an assertion about a tensor, with a message that is computed",
    "Dynamo puts assertions into the graph only when their message is a literal.",
    ["Use `torch._assert_async`, or a message that is a plain text."],
    "GB0170",
    "Data-dependent branching",
)
DEEPCOPY = Rule(
    "deepcopy",
    "copy.deepcopy() of a tensor",
    "Dynamo does not trace it.",
    ["Use `tensor.clone()`."],
    type="copy.deepcopy()",
)
MODULE_MADE = Rule(
    "module made",
    "an nn.Module is made in compiled code",
    "Dynamo cannot make parameters while it traces.",
    ["Make it in `__init__`, or before the compiled function is called."],
    "GB0264",
    "Attempted to use `torch.nn.Parameter()` constructor with Dynamo",
)
UNSUPPORTED_METHOD = Rule(
    "tensor method",
    "Dynamo does not trace this method of tensors",
    "It needs the tensor's data, or changes its memory.",
)
CLASS_MADE = Rule(
    "class made",
    "a class is defined in compiled code",
    "Dynamo does not trace class statements.",
    ["Define it outside of the compiled function."],
)

OPTIMIZER = Rule(
    "optimizer",
    "an optimizer, a scheduler or a scaler is called in compiled code",
    "Dynamo runs it as plain Python here.",
    ["Call it outside of the compiled function, or compile a function that does nothing else."],
)
RANDOM = Rule(
    "random",
    "a random number that Dynamo does not trace",
    "Dynamo traces `random.randint`, `randrange` and `uniform`, and NumPy's functions that give arrays.",
    ["Use `torch.rand` or `torch.randint`, or draw the number outside of the compiled function."],
)
BRANCH_ON_RANDOM = Rule(
    "random branch",
    "a branch on a random number",
    "Dynamo cannot know at compile time which way it goes.",
    ["Draw the number outside of the compiled function, or use `torch.where` to choose between values."],
)

FUNCTIONS: dict[str, Rule] = {
    "builtins.print": PRINT,
    "builtins.breakpoint": BREAKPOINT,
    **dict.fromkeys(
        ("builtins.open", "builtins.exec", "builtins.compile", "builtins.globals", "builtins.input"),
        BUILTIN,
    ),
    **dict.fromkeys(
        (
            *("time.time", "time.perf_counter", "time.monotonic", "time.sleep", "time.process_time", "time.time_ns"),
            *("os.getcwd", "os.path.exists", "os.listdir", "os.getpid", "gc.collect", "uuid.uuid4", "inspect.stack"),
            *("threading.Lock", "threading.RLock", "threading.current_thread", "threading.get_ident"),
            *(
                "pickle.dumps",
                "pickle.loads",
                "json.dumps",
                "json.loads",
                "sys.getsizeof",
                "sys.stdout.write",
                "sys.stdout.flush",
            ),
            *("datetime.datetime.now", "torch.save", "torch.manual_seed", "torch.set_num_threads"),
            *("torch.jit.script", "torch.random.get_rng_state", "torch.get_num_threads", "torch.initial_seed"),
        ),
        SKIPPED,
    ),
    **dict.fromkeys(
        (f"logging.{level}" for level in ("debug", "info", "warning", "error", "critical", "exception", "log")), LOGGING
    ),
    "logging.getLogger": LOGGING,
    **dict.fromkeys(("warnings.warn", "warnings.simplefilter", "warnings.filterwarnings"), WARNING),
    "torch.autograd.grad": AUTOGRAD,
    "torch._dynamo.graph_break": GRAPH_BREAK,
    "torch.nn.utils.rnn.pack_padded_sequence": DATA_DEPENDENT,
}
"""By full name: functions that break with any arguments."""

TENSOR_FUNCTIONS: dict[str, Rule] = {
    **dict.fromkeys(
        (
            *("torch.nonzero", "torch.unique", "torch.unique_consecutive", "torch.masked_select", "torch.argwhere"),
            "torch.bincount",
        ),
        DYNAMIC_SHAPE,
    ),
    **dict.fromkeys(("torch.equal", "torch.allclose", "torch.is_nonzero"), DATA_DEPENDENT),
    **dict.fromkeys(("builtins.float", "builtins.int", "builtins.bool"), ITEM),
    **dict.fromkeys(("math.sqrt", "math.floor", "math.ceil", "math.exp", "math.log"), DATA_DEPENDENT),
    "copy.deepcopy": DEEPCOPY,
    **dict.fromkeys(("builtins.str", "builtins.repr"), TEXT),
}
"""By full name: functions that break when their first argument is a tensor."""

METHODS: dict[str, Rule] = {
    "item": ITEM,
    "tolist": TOLIST,
    **dict.fromkeys(("nonzero", "unique", "unique_consecutive", "masked_select", "argwhere"), DYNAMIC_SHAPE),
    **dict.fromkeys(("allclose", "is_nonzero", "equal"), DATA_DEPENDENT),
    "backward": BACKWARD,
    **dict.fromkeys(
        ("apply_", "map_", "resize_", "share_memory_", "is_inference", "to_sparse", "storage"), UNSUPPORTED_METHOD
    ),
}
"""By name: tensor methods that break; hardly any other object in compiled code has methods of these names."""

RECURRENT = frozenset(("torch.nn.RNN", "torch.nn.GRU", "torch.nn.LSTM"))

DRIVERS = ("torch.optim.", "torch.amp.GradScaler", "torch.cuda.amp.GradScaler")
"""Prefixes of the full names of classes that drive a training step."""
DRIVERS_METHODS = frozenset(("step", "zero_grad", "update", "unscale_"))

RANDOM_NUMBERS = frozenset(("uniform", "randint", "randrange"))
"""Functions of `random` whose result Dynamo makes an input of the graph."""
NUMPY_RANDOM = {
    **dict.fromkeys(("rand", "randn"), 0),
    **dict.fromkeys(("random", "random_sample", "sample"), 0),
    "choice": 1,
    **dict.fromkeys(("normal", "uniform", "randint"), 2),
}
"""Functions of `numpy.random` that Dynamo traces, with the number of arguments of a call that returns one number."""

MODULE_CONSTRUCTORS = frozenset(
    f"torch.nn.{name}"
    for name in (
        "Linear",
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "LayerNorm",
        "BatchNorm1d",
        "BatchNorm2d",
        "Embedding",
        "LSTM",
        "GRU",
    )
)
