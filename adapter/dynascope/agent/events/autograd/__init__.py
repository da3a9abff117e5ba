"""Captured backwards."""
