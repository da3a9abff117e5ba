"""What is around the sections of the page: its style, the box that searches it, and links to lines in the editor.

A browser follows `vscode://file/PATH:LINE`. In a panel of the editor the script tells the panel instead, which opens
the file on the machine that the program ran on.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from urllib.parse import quote

from dynascope.report.sources import shown_path

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --warn: #b8860b; --info: #2a7ab0; --bad: #b22; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem } h2 { font-size: 1.1rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line) }
pre { background: var(--soft); padding: .5rem; overflow-x: auto; margin: .5rem 0 }
pre b { display: block; background: color-mix(in srgb, var(--warn) 25%, transparent) }
article { border-left: 3px solid var(--warn); padding: .2rem 0 .2rem 1rem; margin: 1.2rem 0 }
article.recompile { border-color: var(--info) } article.failure { border-color: var(--bad) }
code, pre, td { font-family: ui-monospace, monospace; font-size: 13px }
table { border-collapse: collapse; width: 100% } td, th { padding: .2rem .6rem; text-align: left; vertical-align: top }
tr:nth-child(even) { background: var(--soft) } .number { text-align: right }
.dim { color: color-mix(in srgb, currentColor 75%, transparent) }
body.vscode-dark, body.vscode-high-contrast { color-scheme: dark }
body.vscode-light, body.vscode-high-contrast-light { color-scheme: light }
#search { width: 100%; padding: .4rem; font: inherit; box-sizing: border-box; position: sticky; top: 0 }
"""
_SCRIPT = """
const search = document.getElementById("search");
search.addEventListener("input", () => {
  const wanted = search.value.toLowerCase();
  for (const each of document.querySelectorAll("article, section > table tr"))
    each.hidden = !each.querySelector(":scope > th") && !each.textContent.toLowerCase().includes(wanted);
});
if (typeof acquireVsCodeApi === "function") {
  const editor = acquireVsCodeApi();
  document.addEventListener("click", (event) => {
    const { path, line } = event.target.closest("a[data-path]")?.dataset ?? {};
    if (!path) return;
    event.preventDefault();
    editor.postMessage({ path, line: Number(line) });
  });
}
"""


def framed(title: str, heading: str, sections: list[str], style: str = "") -> str:
    """Return the whole page, from HTML. It runs only the script above, and loads nothing."""
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return "\n".join(
        [
            f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)} – Dynascope</title>"
            f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{_STYLE}{style}</style>',
            f"<h1>{escape(title)}</h1><p>{heading}</p>",
            '<input id=search type=search placeholder="Search: a function, a file, an id, a word">',
            *(f"<section>{section}</section>" for section in sections if section),
            f"<script>{_SCRIPT}</script></html>",
        ]
    )


def where(path: str, line: int | None) -> str:
    """Return a place, as a link into the editor if it is in a file."""
    text = f"{escape(shown_path(path))}:{line}"
    if not line or not (address := address_of(path, line)):
        return f"<span>{text}</span>"
    return f'<a {address} title="{escape(path)}">{text}</a>'


def address_of(path: str, line: int) -> str:
    """Return the attributes of a link to a line; "" for code without a file."""
    if not path or path.startswith("<"):
        return ""
    address = f"vscode://file/{quote(path.replace(chr(92), '/').lstrip('/'))}:{line}"
    return f'href="{address}" data-path="{escape(path)}" data-line={line}'
