"""Captures of compiled autograd, in progress and ended: their reasons, and their passes."""
