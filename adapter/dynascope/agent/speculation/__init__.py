"""What the debugger has torch do on trial: trace a frame again, to its end or not at all; build guards anew."""
