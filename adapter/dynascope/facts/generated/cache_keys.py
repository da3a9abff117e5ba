"""Say what differs between the keys under which Inductor's cache keeps what it made of a graph."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

CACHE_KEY = "cache key"
"""How the names of the forms end that tell of a key."""
_KEYS_KEPT = 50
_TOLD = 300
"""The most characters of a component that are told."""
_COMPONENT = re.compile(r"(?:# )?\[(\w+)\] (\w+(?:\[.*?\])?): (.*)", re.DOTALL)
"""A line of `FxGraphCachePickler.debug_lines` (2.2), or of `components_text`: hash, name and text."""
_WORDS = (
    (re.compile(r"gm"), "the graph"),
    (re.compile(r"example_inputs\[(\d+)\]"), r"input \1 of the graph"),
    (re.compile(r"inductor_config\[(.+)\]"), r"torch._inductor.config.\1"),
    (re.compile(r"torch_version"), "the installed torch"),
    (re.compile(r"system_info\[(.+)\]"), r"the machine's \1"),
    (re.compile(r"fx_kwargs\[(.+)\]"), r"how Inductor is called: \1"),
)
_HASH = 8
_WINDOW = 160
"""The most characters of a line that are told of a difference."""
_BEFORE = 60
"""How many characters are told before the first difference of long lines."""


class Component(NamedTuple):
    """One of the things that a key is made of, as a hash and a text."""

    hash: str
    text: str


Key = dict[str, Component]
"""What a key is made of, by name."""


class _Missed(NamedTuple):
    compile_id: str
    is_backward: bool
    key: Key


def key_of(lines: Iterable[str]) -> Key:
    """Return a key from the lines that torch, or `components_text`, writes of its components."""
    found = filter(None, map(_COMPONENT.fullmatch, lines))
    return {each[2]: Component(each[1][:_HASH], each[3]) for each in found}


class MissedKeys:
    """The latest keys of this process, to compare with."""

    def __init__(self) -> None:
        self._known: deque[_Missed] = deque(maxlen=_KEYS_KEPT)

    def told(self, key: Key, compile_id: str, is_backward: bool) -> tuple[str, list[str]]:
        """Return a heading and lines for a key that the cache does not have, and keep it."""
        earlier = [each for each in self._known if each.is_backward == is_backward]
        self._known.append(_Missed(compile_id, is_backward, key))
        if not earlier:
            kind = "backward" if is_backward else "forward"
            return f"not in Inductor's cache, and the first {kind} of this process", components_text(key)
        other = min(reversed(earlier), key=lambda each: len(_differing(key, each.key)))
        heading = f"not in Inductor's cache; what differs from the key of [{other.compile_id}]: "
        return heading + summary(key, other.key), [*differences(key, other.key), "", *components_text(key)]


def summary(key: Key, other: Key) -> str:
    """Return the first names in which two keys differ, in words, or `nothing`."""
    names = _differing(key, other)
    return (", ".join(map(_in_words, names[:3])) + (", …" if len(names) > 3 else "")) or "nothing"


def differences(key: Key, other: Key) -> Iterator[str]:
    """Yield, as comments, each component that differs, as it was in `other` and as it is."""
    for name in _differing(key, other):
        new, old = (each[name].text if name in each else "nothing" for each in (key, other))
        yield f"# {_in_words(name)}"
        was, is_now = _first_different(old, new)
        if was == is_now:
            yield "#   what differs in it is not kept"
        else:
            yield from (f"#   was {was}", f"#   is  {is_now}")


def components_text(key: Key) -> list[str]:
    """Return, as comments, all components of a key."""
    components = [f"# [{found.hash}] {name}: {_short(found.text)}" for name, found in key.items()]
    return [f"# The {len(key)} components of the key:", *components]


def _differing(key: Key, other: Key) -> list[str]:
    """Return the names of the components that differ, or that only one has."""
    both = dict.fromkeys([*key, *other])
    return [name for name in both if (name in key) != (name in other) or key[name].hash != other[name].hash]


def _first_different(old: str, new: str) -> tuple[str, str]:
    """Return the first lines in which two texts differ."""
    before, after = old.splitlines() or [""], new.splitlines() or [""]
    pairs = zip(before, after, strict=False)
    found = next((pair for pair in pairs if pair[0] != pair[1]), None)
    if found is None:  # one is the other's beginning, or only what torch does not write differs
        shared = min(len(before), len(after))
        rest = (("".join(each[shared : shared + 1]) or "nothing") for each in (before, after))
        found = (old, new) if len(before) == len(after) else (next(rest), next(rest))
    return _from_difference(*(" ".join(each.split()) for each in found))


def _from_difference(old: str, new: str) -> tuple[str, str]:
    """Return two long lines from a little before the first difference on."""
    pairs = enumerate(zip(old, new, strict=False))
    same = next((number for number, pair in pairs if pair[0] != pair[1]), min(len(old), len(new)))
    start = max(0, same - _BEFORE) if max(len(old), len(new)) > _WINDOW else 0
    return _short("…" * bool(start) + old[start:], _WINDOW), _short("…" * bool(start) + new[start:], _WINDOW)


def _short(text: str, most: int = _TOLD) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _in_words(name: str) -> str:
    return next((match.expand(words) for pattern, words in _WORDS if (match := pattern.fullmatch(name))), name)
