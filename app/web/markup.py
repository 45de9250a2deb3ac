"""The text of posts: excerpts with marked passages, and the author's markup rendered in a safe subset.

The subset is paragraphs, quotes, lists, code, emphasis, and links as text → host.

Nothing that the author wrote is hidden by rendering: what is not in the subset stays as it was typed, and the source is
one click away. The browser fetches nothing: no picture, and no link that could be followed by mistake.
"""

import re
from collections.abc import Mapping, MutableMapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from app.core.models import SampledPost
from app.core.raters.samples import Asked

RENDERED_MAX = 5_000
"""Longer posts are shown as they were typed: parsing them takes too long for a page with ten posts."""
FOLD_LINES = 20
"""A longer post is folded; a line is ``LINE`` characters on an ordinary screen."""
LINE = 75

EMPTY_LINES = re.compile(r"\n((?:[^\S\n]*\n){4,})")
"""A line's end and the empty lines after it, where there are enough to fold into one line with their number."""

_TAGS = {"p", "blockquote", "ul", "ol", "li", "code", "pre", "strong", "em", "br", "span"}
_BLOCKS = {"blockquote_open", "bullet_list_open", "ordered_list_open", "fence"}
_INLINE = {"strong_open", "em_open", "code_inline", "link_open"}


def _link_open(
    _renderer: RendererHTML,
    _tokens: Sequence[Token],
    _place: int,
    _options: Any,
    _env: MutableMapping[str, Any],
) -> str:
    return ""


def _link_close(
    _renderer: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    _options: Any,
    _env: MutableMapping[str, Any],
) -> str:
    opening = next(token for token in reversed(tokens[:place]) if token.type == "link_open")
    if opening.info == "auto":  # its text is the address itself
        return ""
    return f' <span class="to">→ {escape(_host(str(opening.attrs.get("href", ""))))}</span>'


def _host(address: str) -> str:
    """Where an address leads: its host, or the beginning of what has none."""
    try:
        host = urlsplit(address).hostname
    except ValueError:
        host = None
    return host or address[:60]


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    # Whatever could hide words from the reader (HTML, references, entities) or shout (headings) stays as typed.
    parser.disable(
        ["html_block", "html_inline", "reference", "entity", "image", "heading", "lheading", "hr", "code"]
    )
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("link_close", _link_close)
    return parser


def rendered(text: str) -> Markup | None:
    """Return a post with its markup rendered, or None if it has none, or is too long."""
    if len(text) > RENDERED_MAX:
        return None
    parser = _parser()
    tokens = parser.parse(text)
    if not any(_is_markup(token) for token in tokens):
        return None
    html = parser.renderer.render(tokens, parser.options, {})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes={"ol": {"start"}},
        allowed_classes={"span": {"to"}},
        url_schemes=set(),
        link_rel=None,
    )
    # nh3 leaves only tags without addresses, and escapes the rest.
    return Markup(clean)  # noqa: S704 - cleaned on the line above


def _is_markup(token: Token) -> bool:
    return token.type in _BLOCKS or any(child.type in _INLINE for child in token.children or ())


def lines(text: str, end: int | None = None) -> int:
    """How many lines a text needs on an ordinary screen, up to the character ``end``."""
    shown = EMPTY_LINES.sub("\n\n", text[:end])
    return sum(max(1, -(-len(line) // LINE)) for line in shown.split("\n"))


def escaped(text: str, *, starts_line: bool = True) -> Markup:
    """Return a text as it was typed, escaped; many empty lines in a row are one that says so: "30 empty lines"."""
    # Before the first line, a line ends, too.
    position = 1 if starts_line else 0
    parts, whole = list[Markup](), "\n" * position + text
    for run in EMPTY_LINES.finditer(whole):
        line_end = "\n" if run.start() >= position else ""
        words = Markup('{}<span class="muted">{} empty lines</span>\n')
        parts += [escape(whole[position : run.start()]), words.format(line_end, run[1].count("\n"))]
        position = run.end()
    return Markup("").join([*parts, escape(whole[position:])])


EXCERPT = 700
"""How many characters of a post a card shows; the rest is on the item page."""
EXCERPT_LINES = 12
"""How many lines of a post a card shows: many empty lines must not push the question off the screen."""
LONG = 3_000
LONG_LINES = 60
"""A post with more characters or lines than this gets a scrolling frame, so that the question stays on the screen."""
LEAD_IN = 200
"""Characters shown before the first marked passage if the excerpt does not begin at the start of the post."""

_LINE_END = re.compile(rf"{EMPTY_LINES.pattern}|\n")
"""The end of a line; many empty lines after it are shown as one."""


def matched_spans(action: Asked) -> list[tuple[int, int]]:
    """Return the passages that classifiers matched: code-point offsets, end exclusive, in order."""
    if isinstance(action, SampledPost) or action.newest_request_id is not None:
        return []  # of an edited post they are places in an earlier text
    evidence: Mapping[str, Any] = action.evidence or {}
    matches: Sequence[Any] = (evidence.get("details") or {}).get("matches") or ()
    offsets = [(match.get("start"), match.get("end")) for match in matches if isinstance(match, Mapping)]
    return sorted((a, b) for a, b in offsets if isinstance(a, int) and isinstance(b, int) and a < b)


def window(text: str, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return start and end of an excerpt: from the start, or near the first marked passage if that is far down."""
    if len(text) <= EXCERPT:
        return 0, _line_end(text, 0, len(text))
    first = spans[0][0] if spans else 0
    start = 0 if first < EXCERPT - LEAD_IN else max(0, first - LEAD_IN)
    if start:
        start = text.find(" ", start, start + 40) + 1 or start
    end = min(len(text), start + EXCERPT)
    if end < len(text):
        end = max(text.rfind(" ", end - 40, end), start) if " " in text[end - 40 : end] else end
    return start, _line_end(text, start, end)


def _line_end(text: str, start: int, end: int) -> int:
    """Return the end of an excerpt from ``start``: at most ``EXCERPT_LINES`` lines, and not beyond ``end``."""
    # Empty lines at the beginning do not count, or the excerpt could have only empty lines.
    at = start + len(text[start:end]) - len(text[start:end].lstrip("\n"))
    for number, line_end in enumerate(_LINE_END.finditer(text, at + 1, end), 1):
        if number == EXCERPT_LINES:
            return start + len(text[start : line_end.start()].rstrip("\n"))
    return end


def is_long(text: str, start: int, end: int) -> bool:
    """Whether this part of a post needs a scrolling frame."""
    return end - start > LONG or sum(1 for _ in _LINE_END.finditer(text, start, end)) > LONG_LINES
