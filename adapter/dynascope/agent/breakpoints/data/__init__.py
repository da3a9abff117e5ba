"""Data breakpoints: stops at what the compiler decides of a value.

`data_id` says what is watched, `watch` is one breakpoint at work, `subject` finds the value in the frames being traced,
`stops` hears of guards, nodes, symbols and mutations, `changes` compares values from instruction to instruction, and
`information` answers what a row of the Variables view could be watched for.
"""
