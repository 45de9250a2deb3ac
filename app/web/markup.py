"""The author's markup, rendered in a safe subset: paragraphs, quotes, lists, code, emphasis, and links as text → host.

Nothing that the author wrote is hidden by rendering: what is not in the subset stays as it was typed, and the source is
one click away. The browser fetches nothing: no picture, and no link that could be followed by mistake.
"""

import re
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

RENDERED_MAX = 5_000
"""Longer posts are shown as they were typed: parsing them takes too long for a page with ten posts."""
FOLD_LINES = 20
"""A longer post is folded; a line is ``LINE`` characters on an ordinary screen."""
LINE = 75

EMPTY_LINES = re.compile(r"\n((?:[^\S\n]*\n){4,})")
"""A line's end and the empty lines after it, where there are so many that one line says how many there are."""

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
