"""Show tensors, symbolic values, guards and Python objects as rows of the Variables view."""


class EvaluationError(Exception):
    """Raised when an expression has no value here; its text is a message for the user."""


class NotSettable(EvaluationError):
    """Raised when a value that is not the debug console's own is to be set."""
