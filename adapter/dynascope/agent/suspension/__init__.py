"""Stop threads at compile time, and keep them waiting: inside pydevd with debugpy, else in a loop of its own."""
