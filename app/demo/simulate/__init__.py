"""An integration and a crowd of raters, played against a running server over HTTP alone."""
