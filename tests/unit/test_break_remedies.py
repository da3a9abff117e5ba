"""What is advised against a graph break: what is known to help comes first, torch's hints stay with the details."""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope.explain.break_remedies import advice_of_torch, break_remedies
from dynascope.explain.graph_breaks import graph_breaks, title
from dynascope.explain.of_launch import apart
from dynascope.explain.problem import Identities
from dynascope.facts import break_message, model
from dynascope.facts.user_stack import UserFrame

SEED = "Seed outside of the compiled function, and draw there, too"
PACKED = "Call it outside of the compiled function: with packed sequences it breaks the graph in any case."
REPORT = "Please report an issue to PyTorch."


def a_break(registry_id: str | None, explanation: str, path: str = "train.py", *hints: str) -> model.GraphBreak:
    return model.GraphBreak(
        path=path,
        line=7,
        function="step",
        registry_id=registry_id,
        type="A type",
        reason="A type",
        explanation=explanation,
        hints=[*hints],
    )


@pytest.mark.parametrize(
    ("registry_id", "explanation", "path", "first"),
    [
        ("GB0008", "the function `Optimizer.zero_grad` should not be traced", "train.py", "Call the optimizer outside"),
        ("GB0025", "User-inserted graph break.", "lib/torch/optim/optimizer.py", "Call the optimizer outside"),
        ("GB0025", "User-inserted graph break.", "train.py", "Remove the call."),
        ("GB0059", "how to trace builtin operator `print` with argument types", "train.py", "Print outside"),
        ("GB0059", "how to trace builtin operator `open` with argument types", "train.py", "Read and write files"),
        ("GB0059", "how to trace builtin operator `object` with argument types", "train.py", "Do this outside"),
        ("GB0059", "how to trace builtin operator `breakpoint` with argument types", "train.py", "Set a breakpoint"),
        ("GB0007", "how to trace the Python builtin `_warnings.warn`.", "train.py", "Warn outside"),
        ("GB0007", "how to trace the builtin `time.perf_counter.`", "train.py", "Take the time outside"),
        ("GB0156", "how to trace method `sample` of class `Random`", "train.py", "Draw at random outside"),
        ("GB0156", "how to trace method `random` of class `Random`", "train.py", "Draw random numbers outside"),
        ("GB0156", "how to trace method `normal` of class `Generator`", "train.py", "Draw random numbers outside"),
        ("GB0156", "how to trace method `write` of class `TextIOWrapper`", "train.py", "Write outside"),
        ("GB0007", "calling function `torch.random.manual_seed`", "train.py", SEED),
        ("GB0142", "to enter a `TextIOWrapper` context manager", "train.py", "Read and write files outside"),
        ("GB5976", "Dynamo can only trace data pointer comparisons", "train.py", "Compare addresses of tensors"),
        ("GB0290", "Tracing numpy.* functions as methods is not supported.", "train.py", "Compute it with torch's"),
        ("GB0123", "tracing `Tensor.backward()`", "train.py", "Return the loss and call `backward()` outside"),
        ("GB0124", "tracing `Tensor.item()`", "train.py", "Keep it a tensor"),
        ("GB0036", "Operator `aten.repeat_interleave.Tensor`'s output shape", "train.py", "Tell the size"),
        (
            "GB0036",
            "Operator `aten.nonzero.default`'s output shape",
            "train.py",
            "`torch._dynamo.config.capture_dynamic_output_shape_ops = True`, unless",
        ),
        ("GB0036", "Operator `aten._ctc_loss.Tensor`'s output shape", "train.py", "Remove the call."),
        (None, "", "train.py", "Remove the call."),
    ],
)
def test_what_is_known_to_help_comes_first(registry_id: str | None, explanation: str, path: str, first: str):
    assert break_remedies(a_break(registry_id, explanation, path, "Remove the call."))[0].startswith(first)


BRANCHES = """
if x.sum() > 0:
    raise ValueError("positive")
if x.sum() < (
    y.sum()
):
    return x
else:
    raise ValueError("less")
if x.sum() > 1:
    print(x)
    raise ValueError("more")
for y in x:
    if y > 2 and \\
       y < 5:  # between
        pass
    elif y > 7:
        raise ValueError(
            "\\d"
        )
    else:
        pass
z = x if x.sum() > 3 else y
assert x.sum() > (
    4
), f"{x}"
while x.max() > 4:
    x = x - 1
    if x.min() < 2:
        break
    if x.sum() > 5:
        continue
if x.sum() > 6:
    y = 1
# otherwise
else:
    raise ValueError("six")
if self.training and self.rng.random() < 0.5:
    x = x * 2
if torch.isnan(x).any() or torch.isinf(x).any():
    x = y
if mask is not None and mask.any():
    x = y
if x.max() > 7:
    self.large += 1
if x.max() > 8:
    x.mul_(2)
"""


@pytest.mark.parametrize(
    ("line", "first"),
    [
        (2, "Check in the graph"),
        (5, "Check in the graph"),
        (10, "Return the condition, and do what depends on it outside"),
        (11, "If it"),
        (14, "If it"),
        (16, "If it"),
        (17, "Check in"),
        (23, "If it"),
        (24, "Check in"),
        (26, "Check in"),
        (27, "Compile a function for one turn"),
        (29, "Compile a function for one turn"),
        (31, "If it"),
        (33, "Check in"),
        (38, "Decide at random"),
        (40, "Join conditions on tensors"),
        (42, "If it"),
        (44, "Return the condition"),
        (46, "If it"),
    ],
)
def test_what_a_condition_decides_chooses_the_remedy(tmp_path: Path, line: int, first: str):
    file = tmp_path / "branches.py"
    file.write_text(BRANCHES)
    message = (
        "Data-dependent branching\n\n For more details about this graph break, please visit: https://x/gb0170.html"
    )
    found = break_message.graph_break(message, "resumed", [], UserFrame(str(file), line, "step"))
    assert break_remedies(found)[0].startswith(first)


NUMBERS = """\
if x.item() < 0:
    raise ValueError("negative")
while error.item() > 1:
    error = error / 2
if bad: raise ValueError(x.item())
assert n > 0, f"{x.item()}"
while n < 3: n = n + x.item()
if np.random.rand() < 0.5:
    x = x * 2
if self.random.random() < x.item():
    x = x * 2
self.kept["mean"].append(x.mean().item())  # each call
if x is not None:
    kept.append(x.item())
try:
    if x.item() < 0:
        raise ValueError("negative")
except ValueError:
    x = -x
    if x.item() < 0:
        raise ValueError("still negative")
try:
    if x.item() < 1:
        raise ValueError("small")
    while x.item() > 2:
        x = x / 2
finally:
    x = x + 1
try:
    while x.item() > 3:
        x = x / 2
    def f(x):
        if x.item() < 4:
            raise ValueError("small")
except ValueError:
    pass
meter.update(loss.item(), x.shape[0])
self.total += loss.item()
self.norms["hidden"] = x.norm().item()
self.last = int(x.sum())
best = sorted(pairs, key=lambda pair: pair[1].item())
out[i] = x.item()
norms[name] = x.norm().item()
x.mul_(y.item())
z = f(x.item())
key = pickle.dumps(x.tolist())
names = {int(each): name for name, each in ids.items()}
norm = x.norm().item()
if norm > 1:
    x = x / norm
keep = x.max().item() > 1
y = x if keep else 2 * x
try:
    if x.item() < 5:
        raise ValueError("small")
except ValueError:
    self.scale = 2
"""


@pytest.mark.parametrize(
    ("line", "first"),
    [
        *((1, "Check in"), (3, "Compile a function"), (5, "Keep it"), (6, "Keep it"), (7, "Keep it")),
        *((8, "Decide at random outside of the compiled"), (10, "Keep it")),
        *((line, "Return the tensor, and append its number outside") for line in (12, 14)),
        (16, "`torch.where`, if what both sides compute raises nothing"),
        *((line, "Return the tensor, and keep its number outside") for line in (37, 38, 39, 40, 43)),
        (41, "Sort outside"),
        *((line, "Keep it") for line in (42, 44, 45)),
        *((line, "Check in") for line in (20, 23, 33)),  # after it, without an `except`, in another function
        *((line, "Compile a function") for line in (25, 30)),
        *((line, "Python needs it here") for line in (46, 47)),
        *((line, "Leave it a tensor, without `.item()`") for line in (48, 51)),
        (54, "Return the condition, and do what depends on it outside"),
    ],
)
def test_a_number_counts_where_the_condition_reads_it(tmp_path: Path, line: int, first: str):
    file = tmp_path / "numbers.py"
    file.write_text(NUMBERS)
    message = "Unsupported Tensor.item() call\n\n For more details, please visit: https://x/gb0124.html"
    message = message.replace("details,", "details about this graph break,")
    found = break_message.graph_break(message, "resumed", [], UserFrame(str(file), line, "step"))
    assert break_remedies(found)[0].startswith(first)


@pytest.mark.parametrize(
    ("registry_id", "explanation", "first"),
    [
        ("GB0033", "Operator `aten.allclose.default` has a non-Tensor output", "Compare in the graph, `torch.isclose("),
        ("GB0142", "Dynamo does not know how to enter a `lock` context manager.", "Enter the context"),
        ("GB0142", "Dynamo does not know how to enter a `BlockTimer` context manager.", "Enter it outside"),
        ("GB0208", "op: call_function; target: <function fork_rng at 0x7f>", "Draw at random outside"),
        ("GB0208", "torch.* ops that return a non-Tensor cannot be traced", "Avoid it."),
        ("GB0207", "First non-constant key type: <class 'torch.Tensor'>", "Sort a tensor"),
        ("GB0207", "Key type: <class 'torch.Tensor'>", "Sort a tensor"),
        ("GB0207", "First non-constant key type: <class 'int'>", "Sort outside"),
        ("GB0088", "Dynamo found no exception handler", "Nothing is to mend where"),
        ("GB0021", "SymNodeVariable(): Format string part type is not correct", "Format the number outside"),
        ("GB0125", "changes to a Tensor's `requires_grad`", "Set `requires_grad` outside"),
        ("GB0156", "how to trace method `shuffle` of class `Random`", "Draw at random outside"),
    ],
)
def test_what_a_break_is_about_chooses_the_remedy(registry_id: str, explanation: str, first: str):
    assert break_remedies(a_break(registry_id, explanation, "blocks.py", "Avoid it."))[0].startswith(first)


def test_a_recurrent_network_is_not_traced_in_a_file_that_packs_sequences(tmp_path: Path):
    message = "A type\n\n For more details about this graph break, please visit: https://x/gb0014.html"
    for text, first in (("pack_padded_sequence(x, n)\n", PACKED), ("rnn(x)\n", "`torch._dynamo.config.all")):
        (tmp_path / "rnn.py").write_text(text)
        found = break_message.graph_break(message, "resumed", [], UserFrame(str(tmp_path / "rnn.py"), 1, "step"))
        assert break_remedies(found)[0].startswith(first)


def test_an_assertion_of_close_tensors_is_checked_in_the_graph():
    found = a_break("GB0033", "Operator `aten.allclose.default` has a non-Tensor output")
    found.branch = "raises"
    assert break_remedies(found)[0].startswith(
        "Check in the graph what has to be true: `torch._assert_async(torch.isclose(a, b).all(), 'message')`"
    )


def test_print_is_reordered_only_with_texts():
    for types, expected in (
        ("['str', 'tuple']", "the graph has run, if it prints one f-string."),
        ("['str']", "has run."),
    ):
        found = a_break(
            "GB0059", f"how to trace builtin operator `print` with argument types {types} (has_kwargs False)"
        )
        assert any(text.endswith(expected) for text in break_remedies(found))


def test_values_that_are_known_are_gone_through():
    _, other = break_remedies(a_break("GB0036", "Operator `aten._unique2.default`'s output shape"))
    assert other.startswith("Where all values are known, such as classes")


ITERATED = """\
def f(target):
    classes = torch.unique(target)
    values, counts = torch.unique(target, return_counts=True)
    for each in torch.unique(target):
        pass
    kept = torch.unique(target)
    rows = [target == c for c in classes]
    return len(values) + kept.sum()
def g(kept):
    return len(kept)
"""


@pytest.mark.parametrize(("line", "count"), [(2, 1), (3, 1), (4, 1), (6, 2), (10, 2)])
def test_what_python_goes_through_has_no_symbolic_length(tmp_path: Path, line: int, count: int):
    file = tmp_path / "unique.py"
    file.write_text(ITERATED)
    message = "Dynamic shape operator\n  Explanation: Operator `aten._unique2.default`'s output shape\n\n"
    message += " For more details about this graph break, please visit: https://x/gb0036.html"
    found = break_message.graph_break(message, "resumed", [], UserFrame(str(file), line, "f"))
    remedies = break_remedies(found)
    assert len(remedies) == count and remedies[-1].startswith("Where all values are known")


def test_a_logger_is_ignored_by_its_method():
    found = a_break("GB0291", "logging.Logger methods are not supported for non-export cases.")
    found.context = "method: <Logger scaler (INFO)>.warning, args: []"
    assert break_remedies(found)[1].startswith(
        "`torch._dynamo.config.ignore_logging_functions.add(logging.Logger.warning)"
    )


def test_hints_of_torch_stay_with_the_details_without_what_it_asks_to_be_reported():
    found = a_break("GB0124", "Dynamo does not support it.", "train.py", "Set the option.", REPORT)
    assert advice_of_torch(found) == ["torch advises: Set the option."]
    (problem,) = graph_breaks(apart([found]), {}, Identities({}))
    assert problem.details == ["Dynamo does not support it.", "torch advises: Set the option."]
    assert "Set the option." not in problem.remedies


def test_hints_of_torch_are_the_remedies_where_no_more_is_known():
    found = a_break("GB0055", "", "train.py", "Set the option.", REPORT)
    assert break_remedies(found) == ["Set the option."] and advice_of_torch(found) == []
    assert break_remedies(a_break("GB0055", "", "train.py", REPORT)) == [REPORT]


@pytest.mark.parametrize(
    ("type_", "explanation", "expected"),
    [
        (
            "Attempted to call function marked as skipped",
            "how to trace the builtin `time.perf_counter.`",
            "Graph break at time.perf_counter(): it is marked as skipped",
        ),
        (
            "Skip calling `torch.compiler.disable()`d function",
            "Skip calling function `<function record at 0x7f>` since it was wrapped with `torch.compiler.disable`",
            "Graph break at record(): it is disabled",
        ),
        (
            "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "tracing `Tensor.item()`",
            "Graph break at Tensor.item()",
        ),
        (
            "Dynamic shape operator",
            "Operator `aten.nonzero.default`",
            "Graph break at nonzero(): Dynamic shape operator",
        ),
    ],
)
def test_a_type_that_is_too_long_is_left_out_of_the_title(type_: str, explanation: str, expected: str):
    found = a_break("GB0007", explanation)
    found.type = type_
    assert title(found) == expected


@pytest.mark.parametrize(
    ("argument", "expected", "first"),
    [
        ("Generator", "an argument of class Generator: no graph takes it", "Draw with a generator outside"),
        ("Vocabulary", "an argument of class Vocabulary: no graph takes it", "Set the option."),
    ],
)
def test_an_argument_that_no_graph_takes_is_told_by_its_class(argument: str, expected: str, first: str):
    found = a_break("GB0055", "Missing `as_proxy()` implementation for some arg/kwarg.", "train.py", "Set the option.")
    found.type = "Failed to convert args/kwargs to proxy"
    found.context = (
        "call_function args: ConstantVariable(int: 4) LazyVariableTracker(realized: "
        f"UserDefinedObjectVariable({argument}))"
    )
    assert title(found) == f"Graph break at {expected}" and break_remedies(found)[0].startswith(first)


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("if kept.shape[0] == 0: return x", "Where a sum, mean or loss follows"),
        ("assert kept.numel() > 1", "Where a sum, mean or loss follows"),
        ("for each in kept: x = x + each", "Where a sum, mean or loss follows"),
        ("return kept.sum() / kept.shape[0]", "`torch._dynamo.config.capture_dynamic_output_shape_ops = True`"),
    ],
)
def test_a_setting_comes_first_where_python_does_not_ask_for_the_size(tmp_path: Path, use: str, expected: str):
    path = tmp_path / "model.py"
    path.write_text(f"def f(x, mask):\n    kept = x[mask]\n    {use}\n    return kept\n")
    found = a_break("GB0036", "Operator `aten.nonzero.default`'s output shape depends on input Tensor data.")
    message = break_message.BreakMessage(registry_id="GB0036", type=found.type, explanation=found.explanation)
    break_message.note_branch(message, str(path), 2)
    found.branch = message.branch
    assert break_remedies(found)[0].startswith(expected)
