"""The kinds of breakpoints: line, function, instruction, graph node, generated code."""
