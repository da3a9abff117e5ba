"""With debugpy in the session, and without; the quick tests ask most things with it alone."""

from __future__ import annotations

import pytest

DEBUGPY = [True, pytest.param(False, marks=pytest.mark.matrix)]
WITH_AND_WITHOUT_DEBUGPY = pytest.mark.parametrize("runtime", DEBUGPY, ids=["debugpy", "alone"])
"""Call a test with each value of the launch argument `runtime`."""
