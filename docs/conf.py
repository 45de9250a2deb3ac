"""How Sphinx builds these pages: `make docs`."""

from app import __version__

project = "Bridgenote"
version = release = __version__
extensions = ["myst_parser"]
myst_heading_anchors = 3
# What lies beside the pages: examples that people run, not pages.
exclude_patterns = ["run/examples"]

html_theme = "furo"
html_title = f"Bridgenote {version}"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
