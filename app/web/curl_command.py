"""A curl command, ready to paste into a shell. Every value is quoted for it."""

import shlex
from collections.abc import Mapping


def post(url: str, headers: Mapping[str, str], body: str, *, option: str = "-d") -> str:
    """Return the command that posts ``body``, a header a line. The option ``--data-binary`` changes no byte of it."""
    lines = (
        f"curl -sS {shlex.quote(url)}",
        *(f"  -H {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()),
        f"  {option} {shlex.quote(body)}",
    )
    return " \\\n".join(lines)
