"""Fail where a launch has more problems than allowed: `dynascope check`, and `dynascope run --fail-on`."""
