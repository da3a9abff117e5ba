"""What the program itself calls: `dynascope.breakpoint()`, `dynascope.comptime`."""
