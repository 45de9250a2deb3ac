"""The signs of emphasis, code and spoilers that come in pairs: ``**bold**``, `` `code` ``, ``||spoiler||``."""

import re
from collections.abc import Iterator

_URL = r"(?:https?://|www\.)[^\s<>\"'|\[\]()`]+"
# A run of signs that may open or close emphasis, code or a spoiler; those within addresses and between single letters
# do not, nor across paragraphs.
_SIGNS = re.compile(
    rf"{_URL}|(?<![^\W_])[^\W_](?P<sign>[*_~|])[^\W_](?:(?P=sign)[^\W_])+(?![^\W_])"
    r"|<[^<>\n]{0,500}>|\\[*_~|`]|(?P<run>\*+|_+|~+|\|\|+|`+)|(?P<gap>\n[ \t]*\n)"
)


def paired_signs(source: str) -> Iterator[tuple[int, int, int]]:
    """The opening and closing signs, in order of their places; a sign without its partner is text.

    Of each: start, end, and 1 where code begins, -1 where it ends, else 0.
    """
    paired: list[tuple[int, int, int]] = []
    # By the signs: start, end, and whether they stand directly after a letter, as in "w**ill**".
    opened: dict[str, tuple[int, int, bool]] = {}
    for match in _SIGNS.finditer(source):
        if match["gap"]:
            opened.clear()
        if not match["run"]:
            continue
        run, (start, end) = match["run"], match.span()
        before, after = source[start - 1 : start], source[end : end + 1]
        half = run[: len(run) // 2]
        if run not in opened and len(run) % 2 == 0 and half in opened and not before.isspace():
            paired.append((start, end, 0))  # One pair ends and the next begins: **a****b**.
            continue
        if run in opened and not before.isspace():
            first, last, inside_word = opened[run]
            if not inside_word or (start - last <= 40 and not any(map(str.isspace, source[last:start]))):
                del opened[run]
                code = run[0] == "`"
                paired += [(first, last, int(code)), (start, end, -int(code))]
                continue
        if (
            len(run) > 3
            or not after
            or after.isspace()
            or (run[0] == "_" and len(run) == 1 and before.isalnum())
        ):
            continue
        opened[run] = (start, end, before.isalnum() and run[0] in "*_~")
    return iter(sorted(paired))
