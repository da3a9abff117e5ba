"""Data breakpoints: stops at what the compiler decides of a value.

`data_id` names the value and has one breakpoint, `watched_value` finds the value in the frames being traced and says
what a change of it is, `watchpoint_stops` receives guards, nodes, symbols and mutations and compares values from
instruction to instruction, and `info_at_stop` says how a row of the Variables view can be watched.
"""
