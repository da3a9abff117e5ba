"""Where the debugger shows what torch keeps in its own files, and the stops to see it at."""
