"""Find the recorded file of a notebook's cell.

IPython's kernel compiles a cell as `…/ipykernel_PID/HASH.py`, where HASH is MurmurHash2 of the cell's text (ipykernel
6, `ipykernel.compiler.get_file_name`). A cell is therefore found by its content; facts about another content are not.
"""

from __future__ import annotations

from pathlib import PurePath

from dynascope_lsp.documents.text import Text
from dynascope_lsp.recorded.stores import Stores

SEED = 0xC70F6907


def is_cell(uri: str) -> bool:
    """Whether a URI has a scheme that clients use for cells; VS Code: `vscode-notebook-cell`."""
    return uri.startswith(("vscode-notebook-cell:", "notebook-cell:"))


def recorded_path(stores: Stores, text: Text) -> str | None:
    """Return the path under which a program traced this cell; None if none did."""
    names = {f"{murmur_hash_2(source.encode(), SEED)}.py" for source in (text.source, text.source + "\n")}
    for reader in stores.readers():
        for path in reader.files():
            pure = PurePath(path)
            if pure.name in names and pure.parent.name.startswith("ipykernel_"):
                return path
    return None


def murmur_hash_2(data: bytes, seed: int) -> int:
    """Return the 32-bit MurmurHash2 of `data`, as ipykernel and debugpy compute it."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = seed ^ len(data)
    whole = len(data) & ~3
    for place in range(0, whole, 4):
        k = int.from_bytes(data[place : place + 4], "little") * m & mask
        k = (k ^ (k >> 24)) * m & mask
        h = (h * m & mask) ^ k
    rest = data[whole:]
    if rest:
        h = (h ^ int.from_bytes(rest, "little")) * m & mask
    h = (h ^ (h >> 13)) * m & mask
    return h ^ (h >> 15)
