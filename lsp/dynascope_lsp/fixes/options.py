"""Set options of Dynamo that let it trace a kind of operation into the graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dynascope_lsp.documents.syntax import words
from dynascope_lsp.fixes.fix import Fix, Refused, setting, with_trial
from dynascope_lsp.fixes.place import TracedStatement, check_loop, place_of
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.program_files import program_files
from dynascope_lsp.recorded.snapshot import Snapshot

DYNAMIC_SHAPES = "Dynamic shape operator"
_RNN, _SHAPES = "allow_rnn = True", "capture_dynamic_output_shape_ops = True"
_RECURRENT = "Dynamo does not support RNN, GRU, or LSTM"
"""In the explanation: since torch 2.15 the type is that of any call (delayed)."""
_ASK_FOR_SIZES = words("shape size numel item tolist len range int float bool print zip enumerate")
SIZES_ASKED_FOR = (
    "The number of elements is asked for afterwards: compute with a mask of fixed size, `torch.where(mask, x, 0)`."
)


_HAVE_FAKE_KERNELS = re.compile(r"aten\.(nonzero|unique\w*|_unique2|masked_select|index|repeat_interleave)\b")
"""Operators of data-dependent shape that fake tensors can do (`torch._subclasses.fake_impls`, 2.1)."""
_LEAVE_OUT = "leave the recurrent layer out of the compiled function."
_SAME_NUMBERS = "eager"
"""The backend that calls the layer as uncompiled code does (seen on torch 2.13 and 2.15)."""


def fixes(snapshot: Snapshot, finding: Finding) -> Iterator[Fix]:
    is_recurrent = _RECURRENT in finding.explanation
    if finding.type != DYNAMIC_SHAPES and not is_recurrent:
        return
    option = _RNN if is_recurrent else _SHAPES
    try:
        _check(snapshot, finding, is_recurrent)
    except Refused as problem:
        raise with_trial(problem, snapshot, finding, option) from None
    yield setting(snapshot.text, option)


def _check(snapshot: Snapshot, finding: Finding, is_recurrent: bool) -> None:
    place = place_of(snapshot, finding)
    check_loop(place)
    if is_recurrent:
        if "pack" in place.text.source:
            raise Refused(f"Packed sequences are not traced: {_LEAVE_OUT}")
        _check_backends(snapshot)
    else:
        if _HAVE_FAKE_KERNELS.search(finding.explanation) is None:
            raise Refused("Fake tensors may not be able to do this operator: call it outside of the compiled function.")
        _check_sizes(place)


def _check_backends(snapshot: Snapshot) -> None:
    """Raise Refused where a backend of the program may compute a recurrent layer in another way."""
    files = program_files(snapshot)
    if files is None:
        raise Refused("The program has too many files to see what else has a recurrent layer: `allow_rnn` is for all.")
    compiles = [each for file in files if file.facts is not None for each in file.facts.compiles.values()]
    others = sorted({each.backend for each in compiles if each.compile_id} - {_SAME_NUMBERS})
    if others:
        backend = others[-1] or "that is used here"
        raise Refused(
            f"With `allow_rnn = True` the backend {backend} computes the layer in another way: results may differ in "
            f"the last digits, and training an LSTM on a CPU fails. Where that is not wanted, {_LEAVE_OUT}"
        )


def _check_sizes(place: TracedStatement) -> None:
    """Raise Refused if the rest of the function, or a caller, may ask for the size."""
    if place.is_inline:
        raise Refused(SIZES_ASKED_FOR)
    first = place.statement.lineno
    for node in ast.walk(place.function.node):
        if getattr(node, "lineno", 0) < first or node is place.function.node:
            continue
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name in _ASK_FOR_SIZES or isinstance(node, ast.If | ast.IfExp | ast.While | ast.For | ast.comprehension):
            raise Refused(SIZES_ASKED_FOR)
