"""Support of `test_nonperturbation`: programs to compile, what a compile leaves behind, and who looks on meanwhile."""
