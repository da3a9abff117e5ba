"""What VS Code's settings say of kinds of problems and exception filters, written from `explain/kinds.py`.

`python -m tests.support.extension_settings` (`make extension-settings`) writes it into the extension's package.json
and package.nls.json, and into docs/language-server.md; a test fails when it is stale.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from dynascope.dap.breakpoints.exception_filters import ALL_FILTERS
from dynascope.explain.kinds import FILTERS, KINDS
from dynascope_lsp.settings import DEFAULTS

ROOT = Path(__file__).parents[2]
_FIRST = ["graphBreak", "predicted"]
KINDS_OF_DIAGNOSTICS = [*_FIRST, *(name for name in DEFAULTS if name not in _FIRST)]
_SEVERITY = """\
        "dynascope.languageServer.severity.{name}": {{
          "type": "string",
          "enum": ["error", "warning", "information", "hint", "off"],
          "default": "{default}",
          "scope": "window",
          "description": "%setting.languageServer.severity.{name}%"
        }},
"""


def written() -> dict[Path, str]:
    """Return the files with what they should say."""
    extension, page = ROOT / "vscode-extension", ROOT / "docs" / "language-server.md"
    manifest, names = extension / "package.json", extension / "package.nls.json"
    return {
        manifest: _manifest(manifest.read_text()),
        names: _names(names.read_text()),
        page: _replaced(r"(?:(?<=\n)\| `severity\.(?!graphBreak).*\n)+", _rows(), page.read_text()),
    }


def _manifest(text: str) -> str:
    shown = [str(each["filter"]) for each in ALL_FILTERS]
    text = _replaced(r'"enum": \["graphBreak".*\]', f'"enum": {json.dumps([*FILTERS])}', text)
    text = _replaced(r'"enum": \["raised".*\]', f'"enum": {json.dumps(shown)}', text)
    for key, end in (("enumItemLabels", ""), ("enumDescriptions", ".description")):
        texts = json.dumps([f"%filter.{name}{end}%" for name in shown])
        text = _replaced(rf'"{key}": \["%filter\.raised.*\]', f'"{key}": {texts}', text)
    blocks = "".join(_SEVERITY.format(name=name, default=DEFAULTS[name]) for name in KINDS_OF_DIAGNOSTICS)
    return _replaced(r'(?: +"dynascope\.languageServer\.severity\.\w+": \{[^}]*\},\n)+', blocks, text)


def _names(text: str) -> str:
    kept = json.loads(text)
    about = {"predicted": kept["setting.languageServer.severity.predicted"]}
    about |= {name: KINDS[name].about for name in DEFAULTS if name in KINDS}
    made = {f"setting.languageServer.severity.{name}": about[name] for name in KINDS_OF_DIAGNOSTICS}
    for each in ALL_FILTERS:
        made |= {f"filter.{each['filter']}": each["label"], f"filter.{each['filter']}.description": each["description"]}
    found: dict[str, str] = {}
    for key, value in kept.items():
        group = re.match(r"setting\.languageServer\.severity\.|filter\.", key)
        found |= {key: value} if group is None else {one: made[one] for one in made if one.startswith(group[0])}
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _rows() -> str:
    return "".join(f"| `severity.{name}` | `{DEFAULTS[name]}` | |\n" for name in KINDS_OF_DIAGNOSTICS[1:])


def _replaced(pattern: str, by: str, text: str) -> str:
    return re.sub(pattern, lambda _: by, text)


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text)
