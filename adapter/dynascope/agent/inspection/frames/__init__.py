"""Stack frames: symbolic ones and those of the running program, their parameters and step-in targets."""
