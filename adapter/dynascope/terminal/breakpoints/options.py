"""Parse the options before a breakpoint's location: `--mode run`, `--hit "% 2"`, `--log "x is {x}"`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from dynascope.terminal.breakpoints.locations import MODES, BadLocation, Location

_QUOTED = r"""(?P<quote>["'])(?P<text>(?:\\.|(?!(?P=quote)).)*)(?P=quote)"""
_HIT_CONDITION = r"(?:==|>=|<=|>|<|%)?\s*\d+"
_HIT = re.compile(rf"--hit[\s=]+(?:{_QUOTED}|(?P<bare>{_HIT_CONDITION}))(?:\s+|$)")
_LOG = re.compile(rf"--log[\s=]+{_QUOTED}(?:\s+|$)")
_MODE = re.compile(r"--mode[\s=]+\S+(?:\s+|$)")
NAMES = ("--mode", "--hit", "--log")


@dataclass(frozen=True)
class When:
    """The conditions of a breakpoint: it always stops if all are empty. With a `log_message` it never stops."""

    condition: str = ""
    hit_condition: str = ""
    log_message: str = ""

    def to_dap(self) -> dict[str, Any]:
        """Return the fields of a DAP breakpoint."""
        fields = {"condition": self.condition, "hitCondition": self.hit_condition, "logMessage": self.log_message}
        return {name: text for name, text in fields.items() if text}

    def __str__(self) -> str:
        """Return ` if x > 3, at hits % 2, logs "x is {x}"`; "" if it always stops."""
        parts = [f" if {self.condition}"] if self.condition else []
        parts += [f", at hits {self.hit_condition}"] if self.hit_condition else []
        parts += [f', logs "{self.log_message}"'] if self.log_message else []
        return "".join(parts)


ALWAYS = When()


def split(text: str) -> tuple[When, str]:
    """Return `--hit` and `--log` as a When, and the rest with `--mode`. Raises BadLocation."""
    hit = log = mode = ""
    while text.startswith("--"):
        if (match := _MODE.match(text)) is not None:
            mode = match[0].strip() + " "
        elif (match := _HIT.match(text)) is not None:
            hit = _checked(match["bare"] or match["text"])
        elif (match := _LOG.match(text)) is not None:
            log = re.sub(r"\\([\"'\\])", r"\1", match["text"])
        else:
            raise BadLocation(_complaint(text))
        text = text[match.end() :]
    return When(hit_condition=hit, log_message=log), mode + text


def check(when: When, location: Location) -> None:
    """Raise BadLocation for a logpoint that is not on a line."""
    if when.log_message and location.path is None:
        raise BadLocation('`--log` is for lines: `break --log "x is {x}" FILE:LINE`, or FILE:FUNCTION')


def without(text: str) -> str:
    """Return the text after the complete options, for completion."""
    while (match := _MODE.match(text) or _HIT.match(text) or _LOG.match(text)) is not None and match[0][-1].isspace():
        text = text[match.end() :]
    return text


def completions(text: str) -> list[str]:
    """Return completions of the last, incomplete option, or of the mode after `--mode`."""
    rest = without(text)
    if (mode := re.fullmatch(r"--mode\s+(\S*)", rest)) is not None:
        return [name for name in MODES if name.startswith(mode[1])]
    return [name for name in NAMES if name.startswith(rest) and rest.startswith("-")]


def _checked(hit: str) -> str:
    if not re.fullmatch(rf"\s*{_HIT_CONDITION}\s*", hit):
        raise BadLocation(f"`{hit}` is not a hit condition: write a number, or one of == >= <= > < % and a number")
    return hit.strip()


def _complaint(text: str) -> str:
    name = re.split(r"[\s=]", text, maxsplit=1)[0]
    if name == "--hit":
        return "`--hit` needs a number, or one of == >= <= > < % and a number: `break --hit '% 2' FILE:LINE`"
    if name == "--log":
        return '`--log` needs a text in quotes: `break --log "x is {x}" FILE:LINE`'
    return f"there is no option `{name}`; there are {', '.join(NAMES)}"
