"""Hand on what has moved to `explain`, until the agent imports it from there."""

from dynascope.explain.stories import keywords_apart as keywords_apart
from dynascope.explain.stories import keywords_since as keywords_since
