"""Read from a failed guard what it wants of its value, as a clause: "be 3", "be a `Cat`"."""

from __future__ import annotations

import re

from dynascope.facts.recompiles.guarded_value import GuardedValue, readable

_EXPECTED = re.compile(
    r"mismatch(?: at index \d+)?\. expected (?:requires_grad=)?(?P<wanted>.+?)(?:, actual (?P<met>.+))?$"
)
_LENGTH = re.compile(r"len\(.+\) (?P<operator>==|>) (?P<length>\d+)$")
_EQUAL = re.compile(r"\S.* (?P<operator>==|!=|is not|is) (?P<value>.+)$")
_KEY = re.compile(r"list\(.+\)\[(?P<index>\d+)\] == (?P<key>.+)$|(?P<some>'.*'|[\w.-]+) in \S+$")
_CLASS = re.compile(r"type=<(?:class '(?:.*\.)?(?P<name>[^'.]+)'>|(?P<member>[\w.]+): |(?P<of>\w+) )")
"""The class, or as torch 2.11 writes it the member of an enumeration."""
_ABSENT = re.compile(
    r"(?P<absent>not )?(?:hasattr\(.+, (?P<name>'.+')\)|___dict_contains\((?P<key>.+?), .+\)"
    r"|\w+\.__contains__\(.+?, (?P<element>.+)\))$"
)
_TENSOR_TYPE = re.compile(
    r"expected type of '.+?' to be (?:a tensor type|<class '(?:.*\.)?(?P<name>[^'.]+)'>)"
    r".* but found <class '(?:.*\.)?(?P<met>[^'.]+)'>(?P<of>)"
)
_FLOAT = re.compile(r"-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan)")
_BOOLS = {"0": "False", "1": "True"}


def wanted(guard: str, subject: GuardedValue) -> str | None:
    """Return the clause; None where only the guard itself can be told."""
    match subject.kind:
        case "size" | "stride" | "dtype" | "rank" | "device" | "dispatch key set" if found := _EXPECTED.search(guard):
            return f"be {found['wanted']}"
        case "requires_grad" if found := _EXPECTED.search(guard):
            return f"be {_BOOLS.get(found['wanted'], found['wanted'])}"
        case "length" if found := _LENGTH.search(guard):
            return f"be {'more than ' if found['operator'] == '>' else ''}{found['length']}"
        case "length":
            return "be 0"
        case "type" if found := _TENSOR_TYPE.match(guard) or _CLASS.search(guard):
            return f"be {found['name'] or found['of'] or 'that of a tensor'}"
        case "identity" if found := _CLASS.search(guard):
            return f"be {found['member'] or 'the same {} as then'.format(found['name'] or found['of'])}"
        case "keys" if found := _KEY.search(guard):
            return (
                f"have {found['key']} as key {int(found['index']) + 1}"
                if found["key"]
                else f"have the key {found['some']}"
            )
        case "attribute" | "elements" if found := _ABSENT.search(guard):
            return f"{'lack' if found['absent'] else 'have'} {found['name'] or found['key'] or found['element']}"
        case "value" | "keys" if found := _EQUAL.search(guard):
            return f"{'not ' if found['operator'] in ('!=', 'is not') else ''}be {readable(found['value'])}"
    return None


def met(guard: str) -> str | None:
    """Return the value that the guard itself says it has met."""
    found = _EXPECTED.search(guard) or _TENSOR_TYPE.match(guard)
    return None if found is None else found["met"]


def number_wanted(guard: str) -> int | float | None:
    """Return the int or float that a guard wants its value to be; None for any other guard."""
    found = _EXPECTED.search(guard)
    text = found["wanted"] if found is not None else guard.rpartition(" == ")[2]
    if text.lstrip("-").isdecimal():
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else None


def state_wanted(name: str, now: str | None, against: str) -> str:
    """Return what a `GLOBAL_STATE` guard with the text `against` wants of a setting."""
    if now in ("True", "False"):
        return str(now == "False")
    number = re.search(rf'"{re.escape(name)}":(\d+)', against)
    return number[1] if number is not None and now is not None and now.isdecimal() else "what it was then"
