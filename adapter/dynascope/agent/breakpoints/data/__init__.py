"""Data breakpoints: stops at what the compiler decides of a value.

`data_id` names the value, `watchpoint` is one breakpoint, `watched_value` finds the value in the frames being traced,
`watchpoint_stops` receives guards, nodes, symbols and mutations, `changes` compares values from instruction to
instruction, and `info_at_stop` says how a row of the Variables view can be watched.
"""
