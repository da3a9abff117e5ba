"""Compare what this rank of a job compiles with what the others do, before any of it runs."""
