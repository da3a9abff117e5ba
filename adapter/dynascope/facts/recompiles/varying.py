"""Hand on what has moved to `explain`, until the agent imports it from there."""

from dynascope.explain.coming_recompiles import sentence as sentence
