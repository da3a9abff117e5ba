"""Expressions, evaluated on stand-ins so that nothing that is compiled changes."""
