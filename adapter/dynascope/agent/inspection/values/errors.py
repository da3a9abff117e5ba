"""What an evaluation raises."""

from __future__ import annotations


class EvaluationError(Exception):
    """An expression has no value here; the text is a sentence for the user."""
