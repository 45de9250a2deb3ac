"""The only module that uses google-re2: expressions of linear run time that match whole words.

RE2's time is linear in the text for every expression. It has no look-around, and its ``\\b`` and ``\\w`` know only
ASCII, so the edges of a word are written as consuming ``[^\\pL\\pN_]``. Such an edge consumes the separator that
the next word needs: ``foo foo foo`` would lose its second match. The next search therefore starts at the end of the
word, not of the match. Everything works on UTF-8 bytes, encoded once per text: the string interface encodes again
for each search.

A budget limits how long a pack's rules may scan one text, and says which rule used the most.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import Any

import re2 as untyped_re2

from app.core import texts
from app.core.texts import gettext as _

re2: Any = untyped_re2  # The library has no types.

EDGE_BEFORE = r"(?:^|[^\pL\pN_])"
EDGE_AFTER = r"(?:$|[^\pL\pN_])"
PATTERN_MAX = 5_000
PROGRAM_MAX = 20_000
"""Most instructions that one expression may compile to: a few characters such as ``\\pL{900}`` need a million."""
_PROGRAM_MEMORY = 1 << 20  # Bytes: RE2 refuses an expression that needs more, instead of building it first.
SPANS_MAX = 200
SEARCH_WORK = 40_000_000
"""Most instructions times bytes of one search where a person waits: at worst some tenths of a second."""
SET_WORK = 20_000_000
"""The same for all patterns of a pack together, one after the other."""
REACH = 512
"""Bytes: a longer match may be missed, or cut short, where a text is searched in pieces."""


PIECE = 2_048
"""Bytes of a text that are looked through at once for the words of patterns."""


class PatternError(ValueError):
    """An expression that cannot be used. ``position`` is a code point offset into it, None when unknown."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        where = "" if position is None else f" at position {position}"
        super().__init__(f"{reason}{where}")
        self.reason = reason
        self.position = position


def _options(memory: int | None = None) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    if memory is not None:
        options.max_mem = memory
    return options


def _unbalanced(pattern: str) -> int | None:
    """The position of an unmatched parenthesis, None if there is none. Like RE2, skips escapes and classes."""
    open_positions: list[int] = []
    position = 0
    while position < len(pattern):
        if pattern[position] == "\\":
            position += 2
            continue
        if pattern[position] == "[":
            closing = re.compile(r"\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]", re.DOTALL).match(
                pattern, position
            )
            if closing is None:
                return None
            position = closing.end()
            continue
        if pattern[position] == "(":
            open_positions.append(position)
        elif pattern[position] == ")":
            if not open_positions:
                return position
            open_positions.pop()
        position += 1
    return open_positions[-1] if open_positions else None


@lru_cache(maxsize=4096)
def check(pattern: str) -> int:
    """Check an expression. Return its size in instructions.

    Raises:
        PatternError: RE2 refuses it, it is too large, or it matches empty text. The position is set where RE2's
            message allows to find it; RE2 itself reports none.
    """
    if not pattern.strip():
        raise PatternError(_("the pattern is empty"))
    if len(pattern) > PATTERN_MAX:
        raise PatternError(
            _("the pattern is longer than %(most)s characters", most=texts.number(PATTERN_MAX))
        )
    try:
        encoded = pattern.encode()
    except UnicodeEncodeError as exc:
        raise PatternError(_("a lone surrogate is no character"), exc.start) from None
    try:
        compiled = re2.compile(encoded, _options(_PROGRAM_MEMORY))
    except re2.error as exc:
        message = exc.args[0].decode(errors="replace") if isinstance(exc.args[0], bytes) else str(exc.args[0])
        reason, _colon, fragment = message.partition(": ")
        position: int | None = None
        if reason in ("missing )", "unexpected )"):
            position = _unbalanced(pattern)
        elif reason == "trailing \\":
            position = len(pattern) - 1
        elif fragment and fragment in pattern:
            position = pattern.index(fragment)
        if fragment.startswith(("(?=", "(?!", "(?<")):
            reason = _("look-around is not available in RE2")
        elif reason == "invalid escape sequence" and fragment[1:].isdigit():
            reason = _("back-references are not available in RE2")
        elif fragment and position is not None and fragment != pattern:
            reason = f"{reason}: {fragment}"
        raise PatternError(reason, position) from None
    if compiled.fullmatch(b"") is not None:
        raise PatternError(_("the pattern matches empty text, so it would hit everything"))
    size = int(compiled.programsize)
    if size > PROGRAM_MAX:
        raise PatternError(_("the pattern is too large: repeat less, or name fewer characters"))
    return size


class Pattern:
    """An expression that matches whole words; without an edge also the start or end of longer words.

    It is compiled on first use, because most rules of a pack never match.
    """

    def __init__(self, core: str, before: bool = True, after: bool = True) -> None:
        self.source = f"{EDGE_BEFORE * before}({core}){EDGE_AFTER * after}"

    @cached_property
    def _compiled(self) -> Any:
        return re2.compile(self.source.encode(), _options())

    def prepare(self) -> None:
        """Compile now, if not done yet: it takes some milliseconds, far more than most searches."""
        _ = self._compiled

    def spans(
        self, text: bytes, limit: int = SPANS_MAX, pause: Callable[[], None] | None = None
    ) -> Iterator[tuple[int, int]]:
        """Byte spans of the matches, in order and not overlapping, at most ``limit``.

        ``pause`` is called before each search. A text that is long for the expression is then searched in pieces,
        because a running search cannot be stopped.
        """
        at = found_so_far = 0
        for piece_end in (len(text),) if pause is None else self._piece_ends(len(text)):
            is_last = piece_end == len(text)
            while found_so_far < limit:
                if pause is not None:
                    pause()
                # RE2 reads nothing beyond ``piece_end`` but knows that the text continues: no word ends there.
                match = self._compiled.search(text, at, piece_end)
                if match is None:
                    break
                start, end = match.span(1)
                if not is_last and end > piece_end - REACH and start > piece_end - 2 * REACH:
                    break  # It might be longer: the next piece contains it whole.
                yield start, end
                found_so_far += 1
                at = max(end, start + 1)
            at = max(at, piece_end - 2 * REACH)

    def _piece_ends(self, length: int) -> Iterator[int]:
        piece = max(8 * REACH, SEARCH_WORK // int(self._compiled.programsize))
        at = piece
        while at < length:
            yield at
            at += piece - 2 * REACH
        yield length

    def hits(self, text: bytes, start: int = 0, end: int | None = None) -> bool:
        return self._compiled.search(text, start, len(text) if end is None else end) is not None


class PatternSet:
    """Many patterns tested at once: which of them may match?

    Most patterns need some words that few texts have: one pass finds those words (RE2's FilteredRE2), however many
    patterns there are. The few others are tested one by one.
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = tuple(patterns)
        self._filter: Any = re2.Filter()
        for pattern in patterns:
            self._filter.Add(pattern.source.encode(), _options())
        if patterns:
            self._filter.Compile()
        self._always = frozenset(self.possible(b""))

    def possible(self, text: bytes) -> list[int]:
        """Indexes of the patterns whose words a text in small letters has, ascending: all that match, and more."""
        return sorted(self._filter.Match(text, True) or ()) if self._patterns else []

    def candidates(self, text: bytes) -> list[int]:
        """Indexes of the patterns that match a text in small letters, or nearly so, ascending."""
        found = {n for n in self._always if self._patterns[n].hits(text)}
        # Of a long text in pieces: each has the words of a few patterns, the whole those of most.
        for start in range(0, max(1, len(text) - REACH), PIECE - REACH):
            end = min(len(text), start + PIECE)
            for n in self.possible(text[start:end]):
                if n not in self._always and n not in found and self._patterns[n].hits(text, start, end):
                    found.add(n)
        return sorted(found)


class TimeIsUp(Exception):
    """The rules exceeded their time limit; ``rule`` used the most: ``seconds`` of processor time."""

    def __init__(self, rule: str, seconds: float) -> None:
        super().__init__(f"rule {rule} took {seconds:.1f} s")
        self.rule = rule
        self.seconds = seconds


class Stopwatch:
    """Counts the processor time of this thread, so that a busy machine makes no rule look slow.

    ``seconds`` None: no limit. A running regex search cannot be stopped, so ``check`` is called between searches,
    which ``patterns`` keeps short.
    """

    def __init__(self, seconds: float | None) -> None:
        self.is_limited = seconds is not None
        self._end = time.thread_time() + (seconds or 0.0)
        self._spent: dict[str, float] = {}
        self._rule = ""
        self._since = 0.0

    @contextmanager
    def measure(self, rule: str) -> Iterator[None]:
        """Charge the time inside this block to the rule."""
        self._rule, self._since = rule, time.thread_time()
        try:
            yield
        finally:
            self._spent[rule] = self._spent.get(rule, 0.0) + time.thread_time() - self._since

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count the time inside this block."""
        since = time.thread_time()
        try:
            yield
        finally:
            self._end += time.thread_time() - since

    def check(self) -> None:
        """Raise TimeIsUp when the limit is exceeded."""
        if not self.is_limited:
            return
        now = time.thread_time()
        if now < self._end:
            return
        spent = self._spent | {self._rule: self._spent.get(self._rule, 0.0) + now - self._since}
        rule = max(spent, key=lambda rule_id: spent[rule_id])
        raise TimeIsUp(rule, spent[rule])
