"""Report a launch's facts: in a terminal, as JSON, or as an HTML page. It uses `facts` and never imports torch."""
