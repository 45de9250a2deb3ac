"""The command line: one module for each command. ``main`` lists them and imports each when it is asked for."""
