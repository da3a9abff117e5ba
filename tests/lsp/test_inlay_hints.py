"""Inlay hints: shapes behind assignments and parameters, quiet, of the compile that was chosen."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from tests.lsp.editor import editor, run
from tests.support.facts import sample


def test_shapes_stand_behind_names_and_do_not_repeat(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "model.py")
            hints = await each.hints(uri)
            assert hints[13, 23] == ": f32[s77, 16]"  # x of Model.forward, as in the latest compile
            assert hints[7, 9] == ": f32[s77, 16]"
            assert hints[8, 9] == ": f32[8, 16]"  # another value than the line above
            assert hints[6, 23] == ": f32[8, 16]"
            assert await each.hints(uri, 7, 7) == {(7, 9): ": f32[s77, 16]"}

    run(scenario)


def test_the_same_shape_again_is_not_shown(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path, settings={"inlayHints": {"compile": "first"}}) as each:
            await each.configured()
            uri = each.open(tmp_path / "model.py")
            hints = await each.hints(uri)
            assert hints[7, 9] == ": f32[8, 16]"
            assert (8, 9) not in hints
            assert (8, 9) not in await each.hints(uri, 8, 8)  # nor when the line above is out of sight

    run(scenario)


def test_another_compile_can_be_chosen(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "model.py")
            for chosen, label in (("0/0", ": f32[8, 16]"), ("all", ": f32[8, 16] | f32[s77, 16]")):
                await each.client.workspace_execute_command_async(
                    types.ExecuteCommandParams("dynascope.showShapesOfCompile", arguments=[chosen])
                )
                assert (await each.hints(uri))[7, 9] == label

    run(scenario)


def test_they_can_be_switched_off(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path, settings={"inlayHints": {"enabled": False}}) as each:
            await each.configured()
            assert await each.hints(each.open(tmp_path / "model.py")) == {}

    run(scenario)
