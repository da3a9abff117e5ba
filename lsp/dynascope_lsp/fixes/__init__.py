"""Turn each kind of finding into edits, one module per kind, for `features/code_actions.py`."""
