"""Instruction breakpoints."""
