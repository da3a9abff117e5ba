"""What was generated in a compile: Dynamo's graphs and bytecode, and what was made of the graphs later."""
