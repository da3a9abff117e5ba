"""Parse Dynamo's text of a failed guard: the guarded expression, the property of its value, what the guard wants of it.

The texts are those of `torch._dynamo.guards` (2.1) and of its C++ guards; all guards of one property of an expression
give equal results. What is wanted is a clause: "be 3", "be a `Cat`".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from msgspec import Struct

Kind = Literal[
    "value", "size", "stride", "dtype", "rank", "requires_grad", "device", "dispatch key set", "sizes", "length",
    "type", "identity", "aliases", "keys", "elements", "attribute", "marks", "metadata", "lifetime", "backend",
    "global state", "other",
]  # fmt: skip
"""`sizes`: how those of several tensors compare; `aliases`: whether several are one object; `attribute`: whether it
exists; `marks`: whether sizes of a tensor are marked, by an attribute; `metadata`: the second result of
`__tensor_flatten__`; `lifetime`: whether the object still exists; `backend`: which one it was compiled by; `other`:
only the text is known."""


class GuardedValue(Struct, frozen=True):
    """`expression` is Python over the function's names and `G`, its globals: `self.step`; `x, y` for `sizes`."""

    kind: Kind
    expression: str
    dimension: int | None = None

    @property
    def text(self) -> str:
        """Return it for users: `len(names)`, `x.size()[0]`, `self.layers[0].step`."""
        return readable(_TEXTS.get(self.kind, "{0}").format(self.expression, self.dimension))


_TEXTS: dict[Kind, str] = {
    "size": "{0}.size()[{1}]",
    "stride": "{0}.stride()[{1}]",
    "dtype": "{0}.dtype",
    "rank": "{0}.dim()",
    "requires_grad": "{0}.requires_grad",
    "device": "{0}.device",
    "dispatch key set": "dispatch keys of {0}",
    "sizes": "sizes of {0}",
    "length": "len({0})",
    "type": "type({0})",
    "identity": "which object {0} is",
    "aliases": "whether {0} are one object",
    "keys": "keys of {0}",
    "elements": "elements of {0}",
    "attribute": "names in {0}",
    "marks": "marks of sizes",
    "metadata": "metadata of {0}",
    "lifetime": "the end of {0}",
    "backend": "the backend",
}
_PREFIX = re.compile(r"L\['(\w+)'\]")
_STATE = re.compile(r"GLOBAL_STATE changed: (?P<names>.+)|___check_(?P<modes>torch_function_mode)_stack\(\)")
_TENSOR = re.compile(
    r"tensor '(?P<name>.+?)' (?P<kind>size|stride|dtype|rank|requires_grad|device|dispatch key set) mismatch"
    r"(?: at index (?P<dimension>\d+))?"
)
_TENSOR_TYPE = re.compile(r"expected type of '(?P<name>.+?)' to be (?:a tensor type|<class )")
_SIZE = re.compile(r"(?<![\w.\]])(?P<name>[A-Za-z_][\w.'\[\]]*)\.size\(\)\[(?P<dimension>\d+)\]")
_STRIDE = re.compile(r"(?P<name>[A-Za-z_][\w.'\[\]]*)\.stride\(\)\[(?P<dimension>\d+)\]")
_ALIASES = re.compile(
    r"(?P<name>[A-Za-z_][\w.'\"\[\]]*) is (?!(?:None|True|False|Ellipsis)$)(?P<other>[A-Za-z_][\w.'\"\[\]]*)$"
)
_DUPLICATES = re.compile(r"Duplicate tensors? found: (?P<names>.+)")
_QUOTED = re.compile(r"""(["'])(?P<name>.+?)\1(?=[,\]])""")
_BOUND = re.compile(
    r"(?:-?[\d.]+ [<>]=? )?(?P<name>[A-Za-z_][\w.'\"\[\]]*)(?: [<>]=? -?[\d.]+)?(?: and (?P=name) [<>]=? -?[\d.]+)?$"
)
"""A number that is dynamic: `2 <= k`, `k < 5`."""
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("type", re.compile(r"___check_(?:type_id|fake_script_type)\((?P<name>.+?), \d+\)")),
    ("type", re.compile(r"TYPE_MISMATCH\((?P<name>.+)\)$")),
    ("identity", re.compile(r"___check_obj_id\((?P<name>.+?)(?:\.__code__)?, \d+\)")),
    ("identity", re.compile(r"CodeGuardAccessor: Not a function on (?P<name>.+)\.__code__$")),
    ("attribute", re.compile(r"(?:not )?___dict_contains\(.+, (?P<name>[^,]+)\)$")),
    ("attribute", re.compile(r"(?:not )?hasattr\((?P<name>.+), .+\)$")),
    ("elements", re.compile(r"(?:not )?(?:frozen)?set\.__contains__\((?P<name>.+?), .+\)$")),
    ("keys", re.compile(r"list\((?:dict\.keys\((?P<name>.+?)\)|(?P<other_name>[^()]+)\.keys\(\))\)")),
    ("keys", re.compile(r"(?:'.*'|[\w.-]+) in (?P<name>[A-Za-z_][\w.'\"\[\]]*)$")),
    ("marks", re.compile(r"(?P<name>_\w*dynamo_\w+) is (?:present|absent) on runtime tensor")),
    ("marks", re.compile(r"hasattr\((?P<name>.+), '_dynamo_\w+'\) == False$")),
    ("metadata", re.compile(r"___check_metadata\((?P<name>.+)\)$")),
    ("backend", re.compile(r"(?P<name>BACKEND_MATCH) failure: ")),
    ("lifetime", re.compile(r"Cache line invalidated because (?P<name>.+) got deallocated$")),
    ("length", re.compile(r"len\((?P<name>.+?)\) (?:[=!]=|>) \d+$")),
    ("length", re.compile(r"not (?P<name>[A-Za-z_][\w.'\"\[\]]*)$")),
    ("value", re.compile(r"(?P<name>dict\(type\([\w.'\"\[\]]+\)\.__dict__\)\['\w+'\]) (?:[!=]=|is not|is) .+$")),
    ("value", re.compile(r"(?P<name>[A-Za-z_][\w.'\"\[\]]*) (?:==|!=|is not|is) (?:'.*'|\".*\"|[^<>]+)$")),
    ("value", _BOUND),
)
_METADATA = re.compile(r"___check_metadata_\d+_c\d+/\d+")
_SUBCLASS = "a tensor subclass"
_NUMBER = re.compile(r"\d+")
_SIZES = re.compile(r"size mismatch at index \d+\. expected (\d+), actual (\d+)")
_OF_OPTIMIZER = re.compile(r"\.state(\[list\(dict\.keys\(.*\.state\)\)\[\d+\]\])?$")
_EMPTY = re.compile(r"not |len\(.*\) [!=]= 0\b")
_READABLE = (
    (re.compile(r"\blen\(([\w.'\"\[\]]+)\._modules\)"), r"len(\1)"),
    (re.compile(r"\btorch\.sym_(?:float|int)\(((?:[^()]|\([^()]*\))+)\)"), r"\1"),
    (re.compile(r"\bmath\.trunc\("), "int("),
    (re.compile(r"\._modules\['(\d+)'\]"), r"[\1]"),
    (re.compile(r"\._(?:modules|parameters|buffers)\['(\w+)'\]"), r".\1"),
    (re.compile(r"\b[GL]\['(\w+)'\]"), r"\1"),
    (re.compile(r"\bdict\((type\([\w.'\"\[\]]+\))\.__dict__\)\['(\w+)'\]"), r"\1.\2"),
)


def guarded_value(guard: str) -> GuardedValue:
    """Return the value that a failed guard is about."""
    guard = of_metadata(_PREFIX.sub(r"\1", guard))
    state = _STATE.match(guard)
    if state is not None:
        return GuardedValue("global state", " ".join((state["names"] or f"{state['modes']}s").split()))
    tensor = _TENSOR.match(guard)
    if tensor is not None:
        dimension = tensor["dimension"]
        return GuardedValue(tensor["kind"], tensor["name"], int(dimension) if dimension else None)  # type: ignore[arg-type]
    tensor_type = _TENSOR_TYPE.match(guard)
    if tensor_type is not None:
        return GuardedValue("type", tensor_type["name"])
    alias, duplicates = _ALIASES.match(guard), _DUPLICATES.match(guard)
    if alias is not None:
        return GuardedValue("aliases", ", ".join(sorted({alias["name"], alias["other"]})))
    if duplicates is not None:
        names = {_PREFIX.sub(r"\1", found["name"]) for found in _QUOTED.finditer(duplicates["names"])}
        return GuardedValue("aliases", ", ".join(sorted(names)))
    return _of_shapes(guard) or _of_patterns(guard) or GuardedValue("other", _NUMBER.sub("#", guard))


def _of_shapes(guard: str) -> GuardedValue | None:
    """Return the size, the stride or the sizes that a guard reads, or None."""
    sizes, strides = (
        {(found["name"], int(found["dimension"])) for found in pattern.finditer(guard)} for pattern in (_SIZE, _STRIDE)
    )
    if len(sizes) == 1:
        return GuardedValue("size", *sizes.pop())
    if sizes:
        return GuardedValue("sizes", ", ".join(sorted({name for name, _ in sizes})))
    return GuardedValue("stride", *strides.pop()) if len(strides) == 1 else None


def _of_patterns(guard: str) -> GuardedValue | None:
    for kind, pattern in _PATTERNS:
        found = pattern.match(guard)
        if found is not None:
            return GuardedValue(kind, next(filter(None, found.groups())))
    return None


def of_metadata(guard: str, tensor: str = _SUBCLASS) -> str:
    """Return `___check_metadata(x)` for a guard on the metadata of a tensor: torch names none."""
    return _METADATA.sub(f"___check_metadata({tensor})", guard)


def tells_all_of(subject: GuardedValue, name: str, before: str, after: str) -> bool:
    """Whether a guard tells all that differs in argument `name`: not of two sizes, nor of keys."""
    if name not in re.findall(r"\w+", subject.expression) or (subject.kind in ("length", "keys") and "{" in before):
        return False
    sizes = [text.partition("[")[2].rstrip("]").split(", ") for text in (before, after)]
    if subject.kind != "size" or subject.expression != name or len(sizes[0]) != len(sizes[1]):
        return True
    return len([1 for size, other in zip(*sizes, strict=True) if size != other]) < 2


def is_bound(guard: str) -> bool:
    """Whether a guard bounds a dynamic number: `2 <= k`."""
    return any(sign in guard for sign in "<>") and _BOUND.match(_PREFIX.sub(r"\1", guard)) is not None


def is_tensor_or_none(guard: str, values: Iterable[str]) -> bool:
    """Whether a guard wants a tensor, and has met no other values than None."""
    return _TENSOR_TYPE.match(guard) is not None and {*values} <= {"NoneType"}


def is_buffer(subject: GuardedValue) -> bool:
    """Whether a value is a buffer of a module, to which Dynamo gives fixed sizes."""
    return "._buffers[" in subject.expression


def is_first_state(subject: GuardedValue, guard: str) -> bool:
    """Whether a guard wants the state of an optimizer, or of one of its parameters, to be empty."""
    return subject.kind == "length" and bool(_OF_OPTIMIZER.search(subject.expression) and _EMPTY.match(guard))


@lru_cache(4096)
def readable(text: str) -> str:
    """Write modules, parameters and globals as in a program: `self.layers[0].weight`."""
    for pattern, replacement in _READABLE:
        text = pattern.sub(replacement, text)
    return text


_EXPECTED = re.compile(
    r"mismatch(?: at index \d+)?\. expected (?:requires_grad=)?(?P<wanted>.+?)(?:, actual (?P<met>.+))?$"
)
_LENGTH = re.compile(r"len\(.+\) (?P<operator>==|>) (?P<length>\d+)$")
_EQUAL = re.compile(r"\S.* (?P<operator>==|!=|is not|is) (?P<value>.+)$")
_KEY = re.compile(r"list\(.+\)\[(?P<index>\d+)\] == (?P<key>.+)$|(?P<some>'.*'|[\w.-]+) in \S+$")
_CLASS = re.compile(r"type=<(?:class '(?:.*\.)?(?P<name>[^'.]+)'>|(?P<member>[\w.]+): |(?P<of>\w+) )")
"""The class, or as torch 2.11 writes it the member of an enumeration."""
_CODE = re.compile(r"\.__code__\b")
_ABSENT = re.compile(
    r"(?P<absent>not )?(?:hasattr\(.+, (?P<name>'.+')\)|___dict_contains\((?P<key>.+?), .+\)"
    r"|\w+\.__contains__\(.+?, (?P<element>.+)\))$"
)
_TYPE_OF_TENSOR = re.compile(
    r"expected type of '.+?' to be (?:a tensor type|<class '(?:.*\.)?(?P<name>[^'.]+)'>)"
    r".* but found <class '(?:.*\.)?(?P<met>[^'.]+)'>(?P<of>)"
)
_FLOAT = re.compile(r"-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan)")
_WANTED: dict[Kind, str] = {"length": "be 0", "metadata": "equal what it was then"}
"""The clauses of guards that have no other."""
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
        case "type" if found := _TYPE_OF_TENSOR.match(guard) or _CLASS.search(guard):
            return f"be {found['name'] or found['of'] or 'that of a tensor'}"
        case "identity" if found := _CLASS.search(guard):
            kind = "function" if _CODE.search(guard) else found["name"] or found["of"]
            return f"be {found['member'] or f'the same {kind} as then'}"
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
    return _WANTED.get(subject.kind)


def met(guard: str) -> str | None:
    """Return the value that the guard itself says it has met."""
    found = _EXPECTED.search(guard) or _TYPE_OF_TENSOR.match(guard)
    return None if found is None else found["met"]


def sizes_seen(guard: str) -> list[int]:
    """Return the expected and the actual size of a failed guard, if it is on a size."""
    found = _SIZES.search(guard)
    return [int(found[1]), int(found[2])] if found is not None else []


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
