"""What Dynamo did, from the stores of facts, on the lines of a document."""
