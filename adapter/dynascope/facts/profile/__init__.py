"""Where the time of compiles went: by function and line that Dynamo traced, and by phase of torch."""
