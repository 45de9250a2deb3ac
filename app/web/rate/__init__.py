"""Pages for raters: welcome, help needed, my impact."""
