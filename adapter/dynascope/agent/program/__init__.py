"""Read the program's source lines, functions, threads and imports, without torch or pydevd."""
