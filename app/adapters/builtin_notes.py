"""The note writer that needs no model: it quotes a fact-check, or says that none matches."""

from app.core.factcheck.items import Item
from app.core.notes.ai_notes import Draft, Post, expected, language_gap
from app.core.notes.draft_checks import SUMMARY_MAX, quotable
from app.core.vocabulary import Classification

PROVIDER = "builtin"
EXTRACTIVE = "extractive-1"
NO_MATCH = "nomatch-1"
PROMPT_VERSION = "none"

LANGUAGE = "en"
LANGUAGE_GAP = "The builtin writer writes English only; the post is in another language ({})"

_PUBLISHER_MAX = 80
_RATING_MAX = 60
_SHORTEST_CLAIM = 20


class BuiltinWriter:
    """Writes only what the matched fact-check says (docs/run/datasets.md)."""

    def write(self, post: Post, item: Item | None) -> Draft:
        """Return a draft that quotes ``item``, or says how many fact-checks were compared. Never fails."""
        if item is None:
            plural = "" if post.searched == 1 else "s"
            summary = (
                f"No fact-check among {post.searched} item{plural} in this community's datasets matches "
                f"this post (checked {post.checked_on.isoformat()})."
            )
        else:
            summary = f"{_sentence(item)} {item.url}"
        return Draft(
            summary=summary,
            # A rating that we do not know accuses nobody.
            classification=expected(item) or Classification.NOT_MISLEADING,
            sources=(item.url,) if item is not None else (),
            provider=PROVIDER,
            model=EXTRACTIVE if item is not None else NO_MATCH,
            prompt_version=PROMPT_VERSION,
            language=LANGUAGE,
            language_gap=_gap(post),
        )


def _gap(post: Post) -> str | None:
    return LANGUAGE_GAP.format(post.language) if language_gap(LANGUAGE, post) else None


def _sentence(item: Item) -> str:
    """Return at most ``SUMMARY_MAX`` characters. Long texts are cut between words, mostly in the claim."""
    publisher = shorten(quotable(item.publisher), _PUBLISHER_MAX)
    rating = shorten(quotable(item.rating_given), _RATING_MAX).rstrip(".!")
    frame = f"{publisher} rated a closely matching claim “{{}}” {rating}."
    room = max(_SHORTEST_CLAIM, SUMMARY_MAX - len(frame) + 2)
    return f"{publisher} rated a closely matching claim “{shorten(quotable(item.claim), room)}” {rating}."


def shorten(text: str, most: int) -> str:
    """Return ``text`` on one line with at most ``most`` characters, cut between words if possible."""
    plain = " ".join(text.split())
    if len(plain) <= most:
        return plain
    cut = plain[: most - 1]
    if plain[most - 1] != " " and " " in cut:
        cut = cut[: cut.rindex(" ")]
    return cut.rstrip(" ,;:–-") + "…"
