"""The command line: one module for each command. ``main`` lists them and imports a module when its command runs."""
