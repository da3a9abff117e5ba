"""The program as any debugger sees it: source lines, functions, threads, imports. Knows neither torch nor pydevd."""
