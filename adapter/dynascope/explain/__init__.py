"""Every sentence about a compile, once: problems as rows, made of facts that are in a store or in memory.

It imports `facts` and never torch. Reports, the language server and the agent write what it returns.
"""
