"""Go back in a compile: Dynamo traces the frame again from its start, silently up to where the user wants to be."""
