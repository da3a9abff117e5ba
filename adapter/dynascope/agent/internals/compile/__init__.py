"""One compile of one frame: `convert_frame`, its restarts, graph breaks, recompiles, backend."""
