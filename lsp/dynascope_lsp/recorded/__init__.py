"""Read what Dynamo did from the stores of facts, and place it on the lines of a document."""
