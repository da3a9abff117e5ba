"""Tables: the calls that break the graph, and what the functions of torch return."""
