"""One module for each kind of breakpoint: on a line, a function, an instruction, a graph node, in generated code."""
