"""The table of capabilities is that of the code, and each of its rows has a test that uses it through a client."""

from __future__ import annotations

import re

from dynascope.terminal import commands

from tests.support.dap import schema
from tests.support.dap.capability_table import NOT_SERVED, ROWS, declared, pages
from tests.support.dap.capability_tests import files_by_capability
from tests.support.dap.capability_use import USES
from tests.support.dap.client import DapClient


def test_what_is_declared_is_in_the_table_and_tested(client: DapClient) -> None:
    found = set(client.initialize())
    assert found == declared()
    assert found == set(files_by_capability()), "mark the test that uses it: @pytest.mark.capability"
    assert found <= set(ROWS), "say in capability_table.ROWS what it does"
    assert found <= set(USES), "say in capability_use.USES which message uses it"
    assert found <= schema.capabilities()


def test_the_tables_are_not_stale() -> None:
    for path, text in pages(files_by_capability()):
        assert path.read_text() == text, f"{path.name} is stale: make capabilities"


def test_the_prompt_has_the_commands_that_the_table_names() -> None:
    known = {name for command in commands.all_commands() for name in command.names}
    named = {word for row in ROWS.values() for word in re.findall(r"`(\w+)", row.terminal)}
    assert named <= known, named - known


def test_nothing_is_both_served_and_not() -> None:
    assert not declared() & set(NOT_SERVED)


def test_there_is_a_reason_for_every_capability_of_dap_that_is_left_out() -> None:
    optional = {"additionalModuleColumns", "completionTriggerCharacters"}  # details of requests that are served
    assert schema.capabilities() - declared() - set(NOT_SERVED) - optional <= set(ROWS)
