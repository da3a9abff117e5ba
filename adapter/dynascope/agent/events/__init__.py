"""Every name of torch that is wrapped, and every callback that torch gets, each with its subscribers."""
