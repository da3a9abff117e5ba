"""Each rule by which a graph break is expected is right of a program, and says of the break what torch does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dynascope.explain.expected_breaks import expected_break
from dynascope.explain.problem import Identities, Place
from dynascope_lsp.prediction import rules

from tests.lsp.editor import editor, run
from tests.lsp.recording import program, record

pytestmark = [pytest.mark.matrix, pytest.mark.main_leg]

CALLED = "…"
OWN_WORDS = ("assertion",)
"""Rules that explain more than torch does."""
RULES = {each.name for each in vars(rules).values() if isinstance(each, rules.Rule)}
PROGRAM = """
    import copy
    import logging
    import random
    import time
    import warnings

    import torch
    from torch import nn

    log = logging.getLogger(__name__)
    cell, weight = nn.LSTM(4, 4), torch.ones(4, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)


    @torch.compiler.disable
    def plain(x):
        return x


    @torch.compile
    def branch(x):
        if x.sum() > 0:  # branch
            x = x + 1
        return x


    @torch.compile
    def item(x):
        return x * x.sum().item()  # item


    @torch.compile
    def listed(x):
        return x + x.tolist()[0]  # tolist


    @torch.compile
    def shaped(x):
        return torch.nonzero(x) + 1  # dynamic shape


    @torch.compile
    def compared(x):
        return x + 1 if torch.allclose(x, x) else x  # data dependent operator


    @torch.compile
    def printed(x):
        print("now")  # print
        return x + 1


    @torch.compile
    def opened(x):
        globals()  # builtin
        return x + 1


    @torch.compile
    def slept(x):
        time.sleep(0)  # skipped
        return x + 1


    @torch.compile
    def logged(x):
        log.info("now")  # logging
        return x + 1


    @torch.compile
    def warned(x):
        warnings.warn("now")  # warning
        return x + 1


    @torch.compile
    def disabled(x):
        return plain(x) + 1  # disabled


    @torch.compile
    def broken(x):
        torch._dynamo.graph_break()  # graph_break
        return x + 1


    @torch.compile
    def trained(x):
        (x * weight).sum().backward()  # backward
        return x + 1


    @torch.compile
    def differentiated(x):
        return torch.autograd.grad((x * weight).sum(), weight)[0] + 1  # autograd


    @torch.compile
    def written(x):
        text = str(x.relu())  # text
        return x + len(text)


    @torch.compile
    def recurrent(x):
        return cell(x[None])[0] + 1  # rnn


    @torch.compile
    def asserted(x):
        assert x.sum() > 0, f"no: {x.sum()}"  # assertion
        return x + 1


    @torch.compile
    def copied(x):
        return copy.deepcopy(x.relu()) + 1  # deepcopy


    @torch.compile
    def made(x):
        layer = nn.Linear(4, 4)  # module made
        return layer(x)


    @torch.compile
    def stored(x):
        x.storage()  # tensor method
        return x + 1


    @torch.compile
    def defined(x):
        class Result:  # class made
            value = x

        return Result.value + 1


    @torch.compile
    def stepped(x):
        y = x * 2
        optimizer.zero_grad()  # optimizer
        return y + 1


    @torch.compile
    def drawn(x):
        return x + random.gauss(0.0, 1.0)  # random


    @torch.compile
    def chosen(x):
        return x + 1 if random.random() > 0.5 else x - 1  # random branch


    for each in (
        *(branch, item, listed, shaped, compared, printed, opened, slept, logged, warned, disabled, broken, trained),
        *(differentiated, written, recurrent, asserted, copied, made, stored, defined, stepped, drawn, chosen),
    ):
        each(torch.ones(4))
"""


def without_names(text: str) -> str:
    """Return a text with nothing in the quotes of what is called."""
    return re.sub(r"`[^`]*`", "``", text.replace(".`", "`"))


def test_each_rule_says_what_torch_does(tmp_path: Path):
    path = program(tmp_path, "rules_of_breaks.py", PROGRAM)
    lines = path.read_text().splitlines()
    marked = {line: found[1] for line, text in enumerate(lines) if (found := re.search(r"  # (.+)$", text))}
    assert set(marked.values()) == RULES - {"breakpoint"}, "`breakpoint()` waits for a debugger"

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(path)
            before = {found.range.start.line: found for found in await each.diagnostics(uri)}
            assert before.keys() == marked.keys()
            each.refreshed.clear()
            record(tmp_path, path.name)
            await each.until(lambda: each.refreshed)
            recorded = [found for found in await each.diagnostics(uri) if found.data["kind"] == "graphBreak"]
            after = {found.range.start.line: found for found in recorded}
            for line, rule in marked.items():
                assert line in after, lines[line]
                known = expected_break(rule, CALLED, Place(str(path), line + 1), "f", Identities(lambda number: []))
                if known.registry_id is None or rule in OWN_WORDS:
                    continue
                assert before[line].data["type"] == after[line].data["type"] == known.cause, rule
                told = without_names(after[line].message)
                assert without_names(known.details[0]).rstrip(".") in told, rule

    run(scenario)
