"""Record compiles in a block of a program, and ask for what was recorded as Python objects: no files."""
