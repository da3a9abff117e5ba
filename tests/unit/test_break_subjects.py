"""The call, method, operator or error at which a graph broke is read from torch's texts."""

from __future__ import annotations

import pytest
from dynascope.explain.graph_breaks import title
from dynascope.facts.break_message import BreakMessage
from dynascope.facts.break_subject import about, subject_of

BUILTIN = "Dynamo does not know how to trace the builtin `{}.` This function is either a Python builtin"
DISABLED = (
    "Skip inlining function <function Index.nearest at 0x7fb7> since it was wrapped with `torch.compiler.disable`"
)


@pytest.mark.parametrize(
    ("explanation", "context", "subject"),
    [
        (BUILTIN.format("time.time"), "module: time, qualname: time", "time.time()"),
        (BUILTIN.format("torch._VariableFunctionsClass.sparse_coo_tensor"), "", "torch.sparse_coo_tensor()"),
        ("Dynamo developers have intentionally marked that the function `Adam.step` in file `x.py`", "", "Adam.step()"),
        ("Dynamo does not know how to trace builtin operator `print` with argument types []", "", "print()"),
        ("Dynamo does not know how to trace method `get` of class `ContextVar`", "", "ContextVar.get()"),
        ("Operator `aten.nonzero.default`'s output shape depends on input Tensor data.", "", "nonzero()"),
        ("Operator `aten._unique2.default`'s output shape depends on input Tensor data.", "", "unique()"),
        ("Operator `self.mask.nonzero`'s output shape depends on input Tensor data.", "", "nonzero()"),
        ("", "unsupported operator: shop.soft_sort.default", "shop.soft_sort"),
        ("Dynamo does not know how to enter a `lock` context manager.", "", "with lock"),
        (DISABLED, "", "Index.nearest()"),
        ("", "method: <Logger train (INFO)>.info, args: []", "Logger.info()"),
        ("", "example_value type: X; op: call_function; target: <function fork_rng at 0x7f>", "fork_rng()"),
        ("", """raised exception TypeError("can't")""", """TypeError("can't")"""),
        ("Dynamo does not support this.", "call_method TensorVariable() to_list", ""),
        ("Operator `aten._local_scalar_dense.default` has a non-Tensor output", "", ""),
        ("Operator `aten.index.Tensor`'s output shape depends on input Tensor data.", "", ""),
        ("Operator `aten.log10.default`'s output", "", "log10()"),
        ("", "raised exception ValueError('the function `f` fails')", "ValueError('the function `f` fails')"),
        ("", "method: <Logger a (INFO)>.info, args: [ConstantVariable(str: 'the function `f`')]", "Logger.info()"),
    ],
)
def test_subjects(explanation: str, context: str, subject: str):
    message = BreakMessage(type="A type", explanation=explanation, context=context)
    assert subject_of(message) == subject
    assert about(message) == (f"{subject}: A type" if subject else "A type")
    assert title(message) == (f"Graph break at {subject}: A type" if subject else "Graph break: A type")


def test_a_long_error_is_cut():
    message = BreakMessage(type="Observed exception", context=f"raised exception ValueError('{'a' * 50_000}')")
    assert len(about(message)) < 120


def test_a_type_that_names_the_subject_is_enough():
    message = BreakMessage(type="Unsupported Tensor.item() call", explanation="trace method `item` of class `Tensor`")
    assert about(message) == message.type
