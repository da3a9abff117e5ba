"""What a thread that waits inside debugpy needs: steps, breakpoints, threads, child processes."""
