"""Cells of the files that the dashboard exports."""


def cell(value: object) -> str:
    """A cell that no spreadsheet takes for a formula (docs/reliability.md; OWASP CSV Injection)."""
    text = str(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r", "\0")) else text
