"""Why code was compiled again: the guard that failed, the value that changed, and what helps against it."""
