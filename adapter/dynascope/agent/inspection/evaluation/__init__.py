"""Evaluate expressions on stand-ins, so that the compile does not change."""
