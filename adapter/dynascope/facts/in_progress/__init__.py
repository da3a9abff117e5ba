"""What a process compiles now: `board` shows it to others, and `reading` finds and reads it."""
