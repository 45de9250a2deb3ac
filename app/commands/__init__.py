"""The command line, by subject. ``main`` lists the commands and imports a module when one of its commands runs."""
