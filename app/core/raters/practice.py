"""Three example posts for new raters to practise on (docs/develop/design-system.md).

Fixed, invented, and without word play, idioms and places, so that they translate well: a clear attack, a slur that
is quoted in order to discuss it, and criticism that is sharp but fair. An answer here is not a rating: it is stored
only with the membership, to continue later.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.errors import Invalid
from app.core.models import Membership
from app.core.permissions import Actor, Permission, require
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import Role

ANSWERS = ("yes", "no", "unsure")


@dataclass(frozen=True)
class Example:
    """One post, its category, the answer that most people would give, and an explanation per answer.

    With a ``note``, the question is whether this note on the post is helpful; the answers are the same three.
    """

    name: str
    category: str
    text: str
    best: str
    why: Mapping[str, str]
    note: str | None = None


EXAMPLES = (
    Example(
        "attack",
        "toxicity",
        lazy_gettext(
            "You are worthless. Nobody here wants you, and nobody ever will. Go away and never come back."
        ),
        "yes",
        {
            "yes": lazy_gettext("It attacks a person and says nothing about any subject."),
            "no": lazy_gettext(
                "It is not about anything that was said or done. It only attacks a person, and a rule against "
                "insults is meant for exactly this."
            ),
            "unsure": lazy_gettext(
                "You may always say so. Here there is little to doubt: it only attacks a person."
            ),
        },
    ),
    Example(
        "quotation",
        "hate",
        lazy_gettext(
            "On the bus a man called my neighbours “vermin” because of where they were born. Everybody looked away. "
            "What would you have said to him?"
        ),
        "no",
        {
            "yes": lazy_gettext(
                "The word is ugly, but it is quoted in order to talk about what happened. Ask what a post does, "
                "not which words stand in it."
            ),
            "no": lazy_gettext(
                "The word is quoted in order to talk about what happened. What counts is what a post does, not "
                "which words stand in it."
            ),
            "unsure": lazy_gettext(
                "You may always say so. Look at what the post does: it reports a slur and asks for advice."
            ),
        },
    ),
    Example(
        "criticism",
        "toxicity",
        lazy_gettext(
            "The new timetable is a failure. It cost twice as much as promised, and the trains are later than before. "
            "Whoever signed this ignored every warning and owes us an explanation."
        ),
        "no",
        {
            "yes": lazy_gettext(
                "It is hard on a decision and on those who made it, and it says why. People may be angry; "
                "disagreeing with a post is no reason to hide it."
            ),
            "no": lazy_gettext(
                "It is hard on a decision and says why. Sharp criticism is allowed, whether or not you share it."
            ),
            "unsure": lazy_gettext(
                "You may always say so. Here the anger is about a decision, and reasons are given."
            ),
        },
    ),
    Example(
        "note",
        "misinformation",
        lazy_gettext(
            "The swimming pool is closing for good next month. They decided it behind closed doors."
        ),
        "no",
        {
            "yes": lazy_gettext(
                "It may be right, but it shows nothing: no source, and it calls names. A helpful note says what is "
                "known and where one can read it."
            ),
            "no": lazy_gettext(
                "It calls names and has no source. A helpful note says what is known and where one can read it, and "
                "people who usually disagree can both use it."
            ),
            "unsure": lazy_gettext(
                "You may always say so. Here the note has no source and calls names, so it helps nobody."
            ),
        },
        note=lazy_gettext("Another lie by the usual people. Everybody knows that it is only being repaired."),
    ),
)
BY_NAME = {example.name: example for example in EXAMPLES}


def is_new(membership: Membership | None) -> bool:
    """Whether to show this member the welcome page: a rater who has not seen it."""
    return membership is not None and membership.role is Role.RATER and membership.welcomed_at is None


def answers_of(membership: Membership | None) -> dict[str, str]:
    """The member's answers so far, by example."""
    stored = membership.practice if membership is not None else {}
    return {
        name: given_answer
        for name, given_answer in stored.items()
        if name in BY_NAME and given_answer in ANSWERS
    }


def mark_welcomed(session: Session, actor: Actor, community_id: uuid.UUID) -> None:
    """Record that this member has seen the welcome page, so that it is shown once."""
    require(actor, Permission.RATE, community_id)
    bulk.change(
        session,
        sa.update(Membership)
        .where(
            Membership.account_id == actor.account_id,
            Membership.community_id == community_id,
            Membership.welcomed_at.is_(None),
        )
        .values(welcomed_at=clock.now(), updated_at=Membership.updated_at),
    )


def answer(session: Session, actor: Actor, community_id: uuid.UUID, name: str, said: str) -> None:
    """Store a practice answer, replacing an earlier one. Without a membership nothing is stored.

    Raises:
        Invalid: no such example, or no such answer.
    """
    require(actor, Permission.RATE, community_id)
    if name not in BY_NAME:
        raise Invalid.field("example", _("must be one of %(choices)s", choices=", ".join(BY_NAME)), name)
    if said not in ANSWERS:
        raise Invalid.field("answer", _("must be one of %(choices)s", choices=", ".join(ANSWERS)), said)
    membership = _membership(session, actor, community_id)
    if membership is not None:
        membership.practice = {**answers_of(membership), name: said}
        session.flush()


def start_over(session: Session, actor: Actor, community_id: uuid.UUID) -> None:
    """Delete the practice answers."""
    require(actor, Permission.RATE, community_id)
    membership = _membership(session, actor, community_id)
    if membership is not None:
        membership.practice = {}
        session.flush()


def _membership(session: Session, actor: Actor, community_id: uuid.UUID) -> Membership | None:
    return session.scalars(
        sa.select(Membership)
        .where(Membership.account_id == actor.account_id, Membership.community_id == community_id)
        .with_for_update()
    ).first()
