"""Write the JSON schema of `dynascope report --json` into the docs: `python -m tests.support.report_schema`."""

from __future__ import annotations

from dynascope.report.told_as_json import schema

from tests.support.marks import ROOT

PATH = ROOT / "docs" / "report.schema.json"

if __name__ == "__main__":
    PATH.write_bytes(schema())
