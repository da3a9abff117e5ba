"""Hand on what has moved to `explain`, until the agent imports it from there."""

from dynascope.explain.remedies import remedies as remedies
from dynascope.facts.recompiles.guarded_value import is_buffer as is_buffer
from dynascope.facts.recompiles.guarded_value import is_first_state as is_first_state
