"""List the calls that break the graph.

Each rule was observed on torch 2.13; tests/lsp/corpus checks those in it on 2.11 and 2.15, too.
"""

from __future__ import annotations

from msgspec import Struct


class Rule(Struct, frozen=True):
    """A kind of graph break; `explain.expected_breaks` has the texts for the user, by its name."""

    name: str
    unless: tuple[str, ...] = ()
    """Options of `torch._dynamo.config` that make Dynamo trace or ignore it."""
    in_one_graph: bool = True
    """Whether it is an error with `fullgraph=True`: else Dynamo traces it there."""
    skips_the_frame: bool = False
    """Whether Dynamo cannot resume after it: the rest of that function is not compiled."""


BRANCH = Rule("branch")
ITEM = Rule("item", unless=("capture_scalar_outputs",), in_one_graph=False)
TOLIST = Rule("tolist", unless=("capture_scalar_outputs",))
DYNAMIC_SHAPE = Rule("dynamic shape", unless=("capture_dynamic_output_shape_ops",))
DATA_DEPENDENT = Rule("data dependent operator")
PRINT = Rule("print", unless=("reorderable_logging_functions", "ignore_logging_functions"))
BREAKPOINT = Rule("breakpoint")
BUILTIN = Rule("builtin")
SKIPPED = Rule("skipped")
LOGGING = Rule("logging", unless=("reorderable_logging_functions", "ignore_logging_functions", "ignore_logger_methods"))
WARNING = Rule("warning", unless=("reorderable_logging_functions", "ignore_logging_functions"))
DISABLED = Rule("disabled")
GRAPH_BREAK = Rule("graph_break")
BACKWARD = Rule("backward", unless=("trace_autograd_ops",))
AUTOGRAD = Rule("autograd", unless=("trace_autograd_ops",))
TEXT = Rule("text")
RNN = Rule("rnn", unless=("allow_rnn",), skips_the_frame=True)
ASSERTION = Rule("assertion")
DEEPCOPY = Rule("deepcopy")
MODULE_MADE = Rule("module made")
UNSUPPORTED_METHOD = Rule("tensor method")
CLASS_MADE = Rule("class made")
OPTIMIZER = Rule("optimizer")
RANDOM = Rule("random")
BRANCH_ON_RANDOM = Rule("random branch")

FUNCTIONS: dict[str, Rule] = {
    "builtins.print": PRINT,
    "builtins.breakpoint": BREAKPOINT,
    **dict.fromkeys((f"builtins.{name}" for name in ("open", "exec", "compile", "globals", "input")), BUILTIN),
    **dict.fromkeys(
        (
            *("time.time", "time.perf_counter", "time.monotonic", "time.sleep", "time.process_time", "time.time_ns"),
            *("os.getcwd", "os.path.exists", "os.listdir", "os.getpid", "gc.collect", "uuid.uuid4", "inspect.stack"),
            *("threading.Lock", "threading.RLock", "threading.current_thread", "threading.get_ident"),
            *("pickle.dumps", "pickle.loads", "json.dumps", "json.loads"),
            *("sys.getsizeof", "sys.stdout.write", "sys.stdout.flush"),
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
    "torch.compiler.disable()d": DISABLED,
    "torch.nn.utils.rnn.pack_padded_sequence": DATA_DEPENDENT,
}
"""By full name: functions that break with any arguments."""

_SHAPED_BY_DATA = ("nonzero", "unique", "unique_consecutive", "masked_select", "argwhere")

TENSOR_FUNCTIONS: dict[str, Rule] = {
    **dict.fromkeys((f"torch.{name}" for name in (*_SHAPED_BY_DATA, "bincount")), DYNAMIC_SHAPE),
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
    **dict.fromkeys(_SHAPED_BY_DATA, DYNAMIC_SHAPE),
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
