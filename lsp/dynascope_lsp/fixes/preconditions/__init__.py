"""Check what must hold before a fix is offered, one condition a module."""
