"""Advise against graph breaks where more is known than torch says in its hints."""

from __future__ import annotations

import re

from msgspec import Struct

from dynascope.explain.details import is_torch
from dynascope.facts import model
from dynascope.facts.branch import Branch
from dynascope.facts.break_message import BreakMessage
from dynascope.facts.break_subject import subject_of


class _Rule(Struct, frozen=True):
    """Remedies for a kind of graph break, the best one first."""

    registry_ids: str
    """Separated by spaces; "" for breaks that the registry does not have."""
    remedies: tuple[str, ...]
    about: str = ""
    """A pattern: in torch's text, or in the path of the line."""
    branch: Branch = ""
    """For a condition that decides this."""


_OUTSIDE = " outside of the compiled function"
_KEEP_TENSOR = (
    "Keep it a tensor, without `.item()`, `int()`, `float()`, `bool()` or `.tolist()`, where operators that follow "
    "take a tensor; return the tensor, and read its number after the call, where it is only reported; where it is a "
    "size, an index of a tensor or the end of a slice, set `torch._dynamo.config.capture_scalar_outputs = True`."
)
_AS_SIZE = (
    "Set `torch._dynamo.config.capture_scalar_outputs = True`: the number is a size, or the end of a slice, and stays "
    "in the graph as a symbol then."
)
COLLECT = (
    f"Return the tensor, and append its number{_OUTSIDE}; in a hook, write into a tensor that is kept, "
    "`kept.copy_(x.detach())`. A list that grows is compiled again for each length."
)
_KEEP_OUTSIDE = (
    f"Return the tensor, and keep its number{_OUTSIDE}; in a hook, write into a tensor that is kept, "
    "`kept.copy_(x.detach())`. Where the graph computes with it, leave it a tensor."
)
_ALL_ELEMENTS = (
    f"Choose{_OUTSIDE}, or call all, and choose of the results: "
    "`torch.stack([each(x) for each in modules]).index_select(0, index.reshape(1))[0]`."
)
_SORT = f"Sort{_OUTSIDE}, and pass what is sorted."
_SCALARS = "`torch._dynamo.config.capture_scalar_outputs = True`, unless Python decides by the number."
_SHAPES = (
    "`torch._dynamo.config.capture_dynamic_output_shape_ops = True`, unless Python asks for the size, as `len()`, a "
    "condition or a loop does."
)
_MASK = (
    "Where a sum, mean or loss follows, keep all elements, and choose by a mask: `torch.where(mask, x, 0)`, of rows "
    "`torch.where(mask[:, None], x, 0)`; a mean then is over all, so divide by `mask.sum()`, and tell a loss what to "
    f"leave out: `ignore_index=`. Where none follows, select{_OUTSIDE}."
)
_GO_THROUGH_ALL = "Where all values are known, such as classes, go through all, and mask those that are absent."
_ASKED_FIRST = ("isEnabledFor", "getEffectiveLevel")
"""Methods that `Logger.info` and the others call: to ignore them alone helps nothing."""
_IGNORE = "`torch._dynamo.config.ignore_logging_functions.add({})` leaves it out where the function is compiled."
_REORDER = "`torch._dynamo.config.reorderable_logging_functions.add(print)` prints once the graph has run"
_WARN_LATER = (
    "`torch._dynamo.config.reorderable_logging_functions.add(warnings.warn)` warns once the graph has run, if it is "
    "called with a text alone."
)
_DRAW = f"Draw random numbers{_OUTSIDE} and pass them, or draw them by `torch.rand`, `torch.randint`, `torch.randperm`."
_DRAW_OUTSIDE = f"Draw at random{_OUTSIDE}, and pass what is drawn."
_GENERATOR = (
    f"Draw with a generator{_OUTSIDE}, and pass what is drawn; or leave out `generator=`: draws from the default "
    "generator, which `torch.manual_seed()` seeds before the call, stay in the graph."
)
_DECIDE = (
    f"Decide at random{_OUTSIDE} and pass what is decided: a branch on a number of `torch.rand` breaks the graph, too."
)
_CONTEXT = f"Enter the context{_OUTSIDE}."
_ASSERTION = (
    "Check in the graph what has to be true: `torch._assert_async(condition, 'message')`, whose message is a plain "
    "text. It raises a RuntimeError."
)
_ASSERTION_OF_CLOSE = (
    "Check in the graph what has to be true: `torch._assert_async(torch.isclose(a, b).all(), 'message')`, whose "
    "message is a plain text. It raises a RuntimeError."
)
_CAUGHT = (
    "`torch.where`, if what both sides compute raises nothing by itself, else `torch.cond`, with what the `except` "
    "does as the other function."
)
_JOIN = (
    "Join conditions on tensors by `|` and `&`: `or` and `and` ask for the value of each. If it then chooses between "
    "values: `torch.where(condition, a, b)`; if between code: `torch.cond`."
)
_ACT = (
    f"Return the condition, and do what depends on it{_OUTSIDE}: `torch.cond` takes nothing that prints, or that "
    "changes objects."
)
_CHOOSE = (
    "Leave it a tensor, without `.item()`, `int()`, `float()` or `bool()`; where a condition reads it, choose between "
    "values by `torch.where(condition, a, b)`, between code by `torch.cond`."
)
_IN_AUTOGRAD_FUNCTION = (
    "Keep it a tensor, without `.item()`, `int()` or `float()`, which `ctx.save_for_backward` keeps for the backward; "
    "where a condition reads it, choose by `torch.where`. In an autograd function "
    "`torch._dynamo.config.capture_scalar_outputs` ends in an error."
)
_TAKE_OUTSIDE = f"Python needs it here: take it, and what is made of it,{_OUTSIDE}, and pass the result."
_ONE_TURN = "Compile a function for one turn of the loop, and leave the loop to Python: its end depends on a value."
_RULES = (
    _Rule(
        "GB0007 GB0008 GB0025 GB0156",
        (f"Call the optimizer{_OUTSIDE}.",),
        r"torch[/.\\]optim[/.\\]|\bOptimizer\.|`(SGD|AdamW?|Adagrad|RMSprop)\.|Scheduler\.|GradScaler",
    ),
    _Rule(
        "GB0123",
        (f"Return the loss and call `backward()`{_OUTSIDE}: what is compiled has a compiled backward anyway.",),
    ),
    _Rule(
        "GB9186 GB8985",
        (
            f"Use `torch.func.grad`, which Dynamo traces, or take the gradient{_OUTSIDE}: there not with "
            "`create_graph=True`, for what is compiled has no second derivative.",
        ),
        r"autograd\.grad|requires_grad_",
    ),
    _Rule(
        "GB0059",
        (f"Print{_OUTSIDE}.", _REORDER + ", if it prints one f-string.", _IGNORE.format("print")),
        r"operator `print` with argument types \[[^\]]*'(?:tuple|list|dict|set|Size)'",
    ),
    _Rule(
        "GB0059",
        (
            f"Print{_OUTSIDE}.",
            _REORDER + ".",
            _IGNORE.format("print"),
        ),
        r"operator `print`",
    ),
    _Rule("GB0007", (f"Seed{_OUTSIDE}, and draw there, too: pass what is drawn.",), r"manual_seed"),
    _Rule(
        "GB0059 GB0142",
        (f"Read and write files{_OUTSIDE}: pass what is read, return what is written.",),
        r"operator `open`|enter a `(?:TextIOWrapper|FileIO|BytesIO|StringIO|Buffered\w+)`",
    ),
    _Rule("GB0007", (f"Warn{_OUTSIDE}.", _WARN_LATER, _IGNORE.format("warnings.warn")), r"`_?warnings\.warn"),
    _Rule("GB0291", (f"Log{_OUTSIDE}.", _IGNORE.format("logging.Logger.info")), r"logging"),
    _Rule("GB0156", (f"Write{_OUTSIDE}.",), r"method `(write|flush|getvalue)` of class"),
    _Rule("GB0007", (f"Take the time{_OUTSIDE}, before and after the call.",), r"builtin `time\."),
    _Rule(
        "GB0007 GB0156 GB0059",
        (_DRAW_OUTSIDE,),
        r"`(?:shuffle|sample|choices?)` of class `Random`|\brandom\.(?:shuffle|sample|choices?)\b",
    ),
    _Rule("GB0055 GB0363 GB7650", (_GENERATOR,), r"UserDefinedObjectVariable\(Generator\)|torch\.(?:_C\.)?Generator"),
    _Rule("GB0007 GB0156 GB0059", (_DRAW,), r"of class `(Random|Generator|RandomState)`|\brandom\.|_random\."),
    _Rule(
        "GB0059",
        ("Set a breakpoint on this line in Dynascope, or use `comptime.breakpoint()`: both stop while Dynamo traces.",),
        r"operator `breakpoint`",
    ),
    _Rule(
        "GB0170",
        ("Use `torch._assert_async`, or a message that is a plain text.",),
        r"Dynamo puts assertions into the graph",
    ),
    _Rule("GB0033", (_ASSERTION_OF_CLOSE,), r"aten\.(?:allclose|equal)\b", branch="raises"),
    _Rule(
        "GB0033",
        ("Compare in the graph, `torch.isclose(a, b).all()` or `(a == b).all()`, and keep the result a tensor.",),
        r"aten\.(?:allclose|equal)\b",
    ),
    _Rule("GB0033 GB0124 GB0170", (_DECIDE,), branch="random"),
    _Rule("GB0033 GB0124 GB0170", (_ASSERTION,), branch="raises"),
    _Rule("GB0033 GB0124 GB0170", (_ACT,), branch="acts"),
    _Rule("GB0033 GB0124", (_IN_AUTOGRAD_FUNCTION,), branch="autograd"),
    _Rule("GB0033 GB0124", (_CHOOSE, _SCALARS), branch="decides"),
    _Rule("GB0033 GB0124", (_TAKE_OUTSIDE,), branch="passed"),
    _Rule("GB0033 GB0124 GB0170", (_CAUGHT,), branch="caught"),
    _Rule("GB0033 GB0124 GB0170", (_ONE_TURN,), branch="loop"),
    _Rule("GB0033 GB0124", (_AS_SIZE,), r"Tensor\.item|_local_scalar_dense", branch="sizes"),
    _Rule("GB0033 GB0124", (_SORT,), branch="sorts"),
    _Rule("GB0033 GB0124", (_ALL_ELEMENTS,), branch="calls"),
    _Rule("GB0033 GB0124", (_KEEP_OUTSIDE, _SCALARS), branch="keeps"),
    _Rule("GB0033 GB0124", (COLLECT, _SCALARS), r"Tensor\.item|_local_scalar_dense", branch="collects"),
    _Rule("GB0170", (_JOIN,), branch="joins"),
    _Rule("GB0170", ("If it chooses between values: `torch.where(condition, a, b)`; if between code: `torch.cond`.",)),
    _Rule(
        "",
        ("Say before this line what is true, so that the number need not be known: `torch._check(condition)`.",),
        "data-dependent expression",
    ),
    _Rule("GB0124", (_KEEP_TENSOR, _SCALARS)),
    _Rule("GB0033", (_KEEP_TENSOR, _SCALARS), "_local_scalar_dense"),
    _Rule("GB0109", ("Work on the tensor itself, or make a `torch.library.custom_op` of what needs the list.",)),
    _Rule("GB0036", ("Tell the size: `output_size=`.", _SHAPES), "repeat_interleave"),
    _Rule("GB0036", (_MASK,), r"nonzero|masked_select|index", branch="iterates"),
    _Rule("GB0036", (_SHAPES, _MASK), r"nonzero|masked_select|index"),
    _Rule("GB0036", (_GO_THROUGH_ALL,), "unique", branch="iterates"),
    _Rule("GB0036", (_SHAPES, _GO_THROUGH_ALL), "unique"),
    _Rule("GB0014", (f"Call it{_OUTSIDE}: with packed sequences it breaks the graph in any case.",), branch="packed"),
    _Rule("GB0014", ("`torch._dynamo.config.allow_rnn = True` traces RNN, GRU and LSTM.",)),
    _Rule("GB0246", ("Tell the number of classes: `num_classes=`.",)),
    _Rule(
        "GB0264",
        (
            f"Make modules and parameters{_OUTSIDE}; to give a parameter other values, change it in place: "
            "`parameter.data.copy_(…)`.",
        ),
    ),
    _Rule(
        "GB0067",
        ("Return what is new from the operator's function, and change the object after the call.",),
        "outside the scope of this HOP",
    ),
    _Rule(
        "GB0090 GB4315",
        ("Give the operator a fake, which returns an empty tensor of the right shape: `@operator.register_fake`.",),
        "no fake impl|unsupported operator",
    ),
    _Rule("GB4198", (f"Copy{_OUTSIDE}.",)),
    _Rule("GB0208", (_DRAW_OUTSIDE,), "target: <function fork_rng "),
    _Rule("GB0142", (_CONTEXT,), r"enter a `(?:\w*Lock|lock|_?GeneratorContextManager)`"),
    _Rule(
        "GB0142",
        (f"Enter it{_OUTSIDE}; or create it in that function, `with Timer():`, and what it does is traced, too.",),
        "enter a `",
    ),
    _Rule(
        "GB0148",
        ("Make a new tensor, and return it: `torch.cat([buffer, x])`, or `torch.nn.functional.pad`.",),
        r"resize_|inplace view on a graph input",
    ),
    _Rule(
        "GB0207", ("Sort a tensor of the keys: `torch.stack(keys).sort()`.",), r"[kK]ey type: <class 'torch(?!\.SymInt)"
    ),
    _Rule("GB0207", (_SORT,)),
    _Rule("GB0021", (f"Format the number{_OUTSIDE}: it is symbolic in the graph.",), "SymNode"),
    _Rule("GB0088", ("Nothing is to mend where the program means to raise here: such a call runs uncompiled.",)),
    _Rule("GB0125", (f"Set `requires_grad`{_OUTSIDE}.",)),
    _Rule(
        "GB0007 GB0015",
        (f"Make and use sparse tensors{_OUTSIDE}, or compute without: `index_add`, `scatter_add`.",),
        r"[sS]parse(?!\.py)",
    ),
    _Rule(
        "GB0290",
        (
            "Compute it with torch's operators, such as `index_add_`, `scatter_reduce` or `torch.bincount`; or with "
            f"NumPy{_OUTSIDE}.",
        ),
        r"numpy\.\* functions as methods",
    ),
    _Rule(
        "GB5976",
        (f"Compare addresses of tensors{_OUTSIDE}, and pass the result.",),
    ),
    _Rule("GB8977", (f"Define the class{_OUTSIDE}.",)),
    _Rule(
        "GB0098 GB0099",
        ("It is left uncompiled on purpose: there is nothing to mend while `torch.compiler.disable` is needed.",),
    ),
    _Rule(
        "GB0007 GB0294",
        (f"Return what is to be saved, and save it{_OUTSIDE}.",),
        r"function `save` in file|numpy function <function save|_pickle\.dump\b",
    ),
    _Rule(
        "GB0007 GB0008 GB0059 GB0156 GB0158 GB0193 GB0292 GB0294 GB0811 GB4347",
        (f"Do this{_OUTSIDE}, and pass what comes of it.",),
    ),
)
_ABOUT_TORCH = re.compile(
    r"It may be possible to write Dynamo tracing rules|[Pp]lease (report|file) an issue|This graph break is fundamental"
)


def break_remedies(found: model.GraphBreak | BreakMessage) -> list[str]:
    """Return remedies for a graph break, the best one first, or torch's hints."""
    return [*_own(found)] or [hint for hint in found.hints if not _ABOUT_TORCH.search(hint)] or found.hints


def advice_of_torch(found: model.GraphBreak | BreakMessage) -> list[str]:
    """Return torch's hints in one text where they are not the remedies."""
    is_torchs = isinstance(found, model.GraphBreak) and found.stack and is_torch(found.stack[-1])
    hints = [hint for hint in found.hints if not _ABOUT_TORCH.search(hint)] if _own(found) and not is_torchs else []
    return [f"torch advises: {' '.join(hints)}"] if hints else []


def _own(found: model.GraphBreak | BreakMessage) -> tuple[str, ...]:
    texts = "\n".join(
        [found.explanation, found.context, *([found.reason, found.path] if isinstance(found, model.GraphBreak) else [])]
    )
    own = (
        each
        for each in _RULES
        if (found.registry_id or "") in (each.registry_ids.split() or [""]) and each.branch in ("", found.branch)
    )
    remedies = next((each.remedies for each in own if not each.about or re.search(each.about, texts)), ())
    owner, _, method = subject_of(found).removesuffix("()").rpartition(".")
    logged = method if owner == "Logger" and method not in _ASKED_FIRST else "info"
    return tuple(text.replace("Logger.info", f"Logger.{logged}") for text in remedies)
