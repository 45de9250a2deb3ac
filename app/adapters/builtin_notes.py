"""The note writer that needs no model: it quotes a fact-check, or says truthfully that there is none."""

from app.core.factcheck.items import Item
from app.core.notes.ai_notes import SUMMARY_MAX, Draft, Post
from app.core.vocabulary import ClaimRating, Classification

PROVIDER = "builtin"
EXTRACTIVE = "extractive-1"
NO_MATCH = "nomatch-1"
PROMPT_VERSION = "none"

NOT_MISLEADING = frozenset({ClaimRating.TRUE, ClaimRating.MOSTLY_TRUE, None})
"""Findings that speak for a claim, or that we cannot read: no reason to call a post misleading. All others, the mixed
and the outdated too, say at least that it *potentially* misleads."""

_PUBLISHER_MAX = 80
_RATING_MAX = 60
_SHORTEST_CLAIM = 20


class BuiltinWriter:
    """Writes from the matched fact-check alone (decision 0019)."""

    def write(self, post: Post, item: Item | None) -> Draft:
        """A quotation of ``item``, or the number of fact-checks that do not match. Never fails."""
        if item is None:
            plural = "" if post.searched == 1 else "s"
            return Draft(
                summary=(
                    f"No fact-check among {post.searched} item{plural} in this community's datasets matches "
                    f"this post (checked {post.checked_on.isoformat()})."
                ),
                classification=Classification.NOT_MISLEADING,
                sources=(),
                provider=PROVIDER,
                model=NO_MATCH,
                prompt_version=PROMPT_VERSION,
            )
        is_fine = item.rating in NOT_MISLEADING
        return Draft(
            summary=f"{_sentence(item)} {item.url}",
            classification=Classification.NOT_MISLEADING if is_fine else Classification.MISLEADING,
            sources=(item.url,),
            provider=PROVIDER,
            model=EXTRACTIVE,
            prompt_version=PROMPT_VERSION,
        )


def _sentence(item: Item) -> str:
    """At most ``SUMMARY_MAX`` characters; what is too long is cut between words, the claim most of all."""
    publisher = shorten(item.publisher, _PUBLISHER_MAX)
    rating = shorten(item.rating_given, _RATING_MAX).rstrip(".!")
    frame = f"{publisher} rated a closely matching claim “{{}}” {rating}."
    room = max(_SHORTEST_CLAIM, SUMMARY_MAX - len(frame) + 2)
    return f"{publisher} rated a closely matching claim “{shorten(item.claim, room)}” {rating}."


def shorten(text: str, most: int) -> str:
    """``text`` on one line, of at most ``most`` characters, cut between words where there is a gap to cut at."""
    plain = " ".join(text.split())
    if len(plain) <= most:
        return plain
    cut = plain[: most - 1]
    if plain[most - 1] != " " and " " in cut:
        cut = cut[: cut.rindex(" ")]
    return cut.rstrip(" ,;:–-") + "…"
