"""What a process compiles now: `board` shows it to others, `reading` finds and reads it, `parts` names the phases."""
