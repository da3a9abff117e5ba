"""Functions that the program itself calls: `dynascope.breakpoint()`, `dynascope.comptime`."""
