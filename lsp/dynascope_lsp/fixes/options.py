"""Set options of Dynamo that let it trace a kind of operation into the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynascope_lsp.fixes import configuration
from dynascope_lsp.fixes.fix import Advice, Fix, Refused
from dynascope_lsp.fixes.place import Place, place_of
from dynascope_lsp.fixes.preconditions.loops import check_loop
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot

DYNAMIC_SHAPES = "Dynamic shape operator"
_RECURRENT = "Dynamo does not support RNN, GRU, or LSTM"
"""In the explanation: since torch 2.15 the type is that of any call (delayed)."""
_ASK_FOR_SIZES = frozenset(
    ("shape", "size", "numel", "item", "tolist", "len", "range", "int", "float", "bool", "print", "zip", "enumerate")
)
SIZES_ASKED_FOR = (
    "The number of elements is asked for afterwards, which breaks the graph again: compute with a mask of fixed size, "
    "`torch.where(mask, x, 0)`."
)


def fixes(snapshot: Snapshot, finding: Finding) -> Iterator[Fix | Advice]:
    is_recurrent = _RECURRENT in finding.explanation
    if finding.type != DYNAMIC_SHAPES and not is_recurrent:
        return
    try:
        place = place_of(snapshot, finding)
        check_loop(place)
        if is_recurrent:
            if "pack" in place.text.source:
                raise Refused(
                    "Packed sequences are not traced: leave the recurrent layer out of the compiled function."
                )
            yield configuration.setting(place.text, "allow_rnn = True")
        else:
            _check_sizes(place)
            yield configuration.setting(place.text, "capture_dynamic_output_shape_ops = True")
    except Refused as problem:
        yield Advice(str(problem))


def _check_sizes(place: Place) -> None:
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
