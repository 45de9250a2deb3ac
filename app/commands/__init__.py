"""Commands with a module of their own; ``app.cli`` lists them and imports each when it is asked for."""
