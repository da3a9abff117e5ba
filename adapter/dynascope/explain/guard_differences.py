"""Say which values two ranks have of which the guards of their compiles differ."""

from __future__ import annotations

import re

from msgspec import structs

from dynascope.facts.branch import paths_at
from dynascope.facts.closures import variable_in_cell
from dynascope.facts.comparison.differences import Comparison, Difference
from dynascope.facts.recompiles.guarded_value import guarded_value, readable, wanted

_HOOKS = re.compile(
    r"len\((?P<module>.+?)\._(?P<kind>(?:forward|backward)(?:_pre)?)_hooks(?:_with_kwargs)?\) == (?P<n>\d+)"
)
_OF_PATH = re.compile(r"(len\(|keys of |elements of |names in )([^)]+)\)?")
"""The part of an object that a guard checks: `len(fn[1].steps)`."""
_POSSESSES = "have ", "lack "


def guard_told(guard: Difference, names: tuple[str, str], is_condition: bool) -> str | None:
    """Return the value that each side's guard wants; None where only the guards can be told.

    `is_condition`: it decides the way that each goes, so that one side's guard tells what the other's value is not.
    """
    left, right = (_as_written(value_wanted(each), guard) for each in (guard.left, guard.right))
    if left is not None and right is not None:
        (subject, clause), (other, other_clause) = left, right
        if subject != other or clause == other_clause:
            return None
        if _what(clause) is not None and _what(clause) == _what(other_clause):
            return _possessed(subject, clause, names)
        clauses = [each.removeprefix("be ") for each in (clause, other_clause)]
        verb = "are" if subject.startswith(("keys of ", "elements of ", "names in ")) else "is"
        return f"{subject} {verb} {clauses[0]} in {names[0]}, and {clauses[1]} in {names[1]}."
    known = left or right
    if known is None or not is_condition or (guard.left is not None and guard.right is not None):
        return None
    name, other_name = names if left is not None else names[::-1]
    hooks = _HOOKS.search(guard.left or guard.right or "")
    if hooks is not None:
        kind = hooks["kind"].replace("_", " ")
        number = "a" if hooks["n"] == "1" else hooks["n"]
        some = f"{number} {kind} hook{'' if hooks['n'] == '1' else 's'}"
        return f"{readable(hooks['module'])} has {some} in {name}, and none in {other_name}."
    subject, clause = known
    return _possessed(subject, clause, (name, other_name)) if _what(clause) is not None else None


def _what(clause: str) -> str | None:
    """Return the attribute or element that an object has to have or to lack, or None."""
    return clause.partition(" ")[2] if clause.startswith(_POSSESSES) else None


def _possessed(subject: str, clause: str, names: tuple[str, str]) -> str:
    """Say in which rank an object has an attribute or element; the clause is of the first."""
    has, lacks = names if clause.startswith("have ") else names[::-1]
    owner = subject.removeprefix("elements of ").removeprefix("names in ")
    return f"{owner} has {_what(clause)} in {has}, and not in {lacks}."


def read_by_one(guard: Difference, names: tuple[str, str]) -> str | None:
    """Return the value that only one side's guard is about; None for another guard."""
    known = value_wanted(guard.left) or value_wanted(guard.right)
    if guard.kind != "guard" or None not in (guard.left, guard.right) or known is None:
        return None
    subject, clause = known
    name, other = names if guard.left is not None else names[::-1]
    is_value = clause.startswith("be ") and not subject.startswith("type(")
    return f"{subject} is {clause.removeprefix('be ')} in {name}, and {other} does not read it." if is_value else None


def _as_written(known: tuple[str, str] | None, guard: Difference) -> tuple[str, str] | None:
    """Return what a guard wants, with the line's own words for its subject.

    It is `self.cfg.sync` where the compiled function calls the module `fn[1].cfg.sync`.
    """
    if known is None:
        return None
    subject = known[0].removesuffix(".group_name")  # of a process group whose ranks are told
    of, path = (found[1], found[2]) if (found := _OF_PATH.fullmatch(subject)) else ("", subject)
    written = paths_at(guard.place.path, guard.place.line)
    path = next((each for each in written if "." in each and path.endswith(f".{each.partition('.')[2]}")), path)
    path = variable_in_cell(path, guard.place.path, guard.place.line) or path
    return f"len({path})" if of == "len(" else f"{of}{path}", known[1]


def value_wanted(code: str | None) -> tuple[str, str] | None:
    """Return the first value that a guard's code is about, and what it wants of it."""
    for each in (code or "").split(" and "):
        subject = guarded_value(each)
        if each and (clause := wanted(each, subject)) is not None:
            is_member = subject.kind == "identity" and not clause.startswith("be the same ")
            return readable(subject.expression) if is_member else subject.text, clause
    return None


def of_both(comparison: Comparison, guard: Difference) -> Difference:
    """Return a guard of one side with the other side's guard on the same source, if it has one.

    That of `None` is made where it is read, and that of a number where it is used.
    """
    if guard.kind != "guard" or None not in (guard.left, guard.right):
        return guard
    source = guard.subject.partition(" ")[2]
    other = comparison.left if guard.left is None else comparison.right
    of_source = (
        each.text
        for line in other.lines
        for each in line.decisions
        if each.kind == "guard" and each.subject.partition(" ")[2] == source and value_wanted(each.text) is not None
    )
    found = next(of_source, None)
    return structs.replace(guard, **{"left" if guard.left is None else "right": found}) if source else guard
