"""The command `dynascope profile`: where the time of the compiles of a launch went."""
