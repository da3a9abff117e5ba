"""What a launch's facts add up to: in a terminal, as JSON, as one HTML page. Stands on facts; never imports torch."""
