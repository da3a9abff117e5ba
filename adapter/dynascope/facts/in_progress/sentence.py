"""Hand on what has moved to `explain`, until the agent imports it from there."""

from dynascope.explain.in_progress import doing as doing
