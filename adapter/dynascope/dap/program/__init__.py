"""The debugged program: started or attached to, with debugpy or without, until it ends."""
