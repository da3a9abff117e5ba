"""Ask at the prompt what AOTAutograd made of a graph, with a real program."""

from __future__ import annotations

from pathlib import Path

from tests.support.marks import line, program
from tests.support.terminal.debugging import debug, folder

__all__ = ["folder"]

FORMS = program("forms.py")


def test_forms_are_listed_shown_and_found_from_a_line(folder: Path) -> None:
    made = line(FORMS, "made")
    asked = ["forms", "forms 0/0 inference", f"forms from {made}", "forms 0/0 inference:6", "forms 0", "help forms"]
    code, out = debug(
        "-b", f"{FORMS}:{line(FORMS, 'after')}", str(FORMS), commands="\n".join(["continue", *asked, "continue", ""])
    )
    assert code == 0
    assert "first [0/0] inference graph: by AOTAutograd; nothing here needs a gradient (" in out
    assert "  sin = torch.ops.aten.sin.default(" in out
    assert out.count("first [0/0] inference graph\n") == 1
    assert out.count(f"{FORMS}:{made} in first") >= 2
    assert "Ask `forms`, `forms 0/0`," in out
    assert "all that was made of your line" in out.replace("\n", " ")
