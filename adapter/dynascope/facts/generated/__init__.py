"""What Dynamo generated in a compile: its graphs and its bytecode."""
