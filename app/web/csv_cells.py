"""Cells of the CSV files that the dashboard exports."""


def cell(value: object) -> str:
    """Return a value as a cell that spreadsheets do not run as a formula (docs/reliability.md; OWASP CSV Injection)."""
    text = str(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r", "\0")) else text
