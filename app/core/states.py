"""The tables of state changes (moves): source and target state, verb, and who may make the move. Pure data.

There is one table each for actions, requests, notes and reports. The dashboard's buttons, held decisions, the API's
error answers and the tests read these tables. Only ``moves.make_move`` changes a state.
"""

from dataclasses import dataclass
from enum import StrEnum

from app.core.vocabulary import ActionState as A
from app.core.vocabulary import ActionVerb as V
from app.core.vocabulary import EventName as E
from app.core.vocabulary import NoteStatus as N
from app.core.vocabulary import ReportState as P
from app.core.vocabulary import RequestStatus as R


class Who(StrEnum):
    """Who may make a move. A reporter is a member, or an integration for a user.

    A moderator is a person with that role, or a call with a staff API key.
    """

    SERVICE = "service"
    INTEGRATION = "integration"
    REPORTER = "reporter"
    RATER = "rater"
    MODERATOR = "moderator"
    OPERATOR = "operator"


class When(StrEnum):
    """A condition of a move besides the source state."""

    ONCE_PROPOSED = "once proposed"
    REOPENS = "reopens a dismissal"
    SCORE_ALONE = "a score alone decided"


@dataclass(frozen=True)
class Move:
    """One row of a table.

    ``source`` is None for the first state of a new object. ``events`` are sent to webhooks. ``verb`` names the move for
    people and code; None for moves that only the service makes. ``through`` is a state between source and target: such
    a row is one decision that makes two moves. ``undoes``: the move reverses an earlier decision.
    """

    source: StrEnum | None
    target: StrEnum
    who: frozenset[Who]
    why: str
    verb: V | None = None
    events: tuple[E, ...] = ()
    when: When | None = None
    through: StrEnum | None = None
    undoes: bool = False


@dataclass(frozen=True)
class Machine:
    """A table of moves between the states of one enum. ``field`` is the attribute that holds the state."""

    name: str
    field: str
    states: type[StrEnum]
    moves: tuple[Move, ...]

    def find(self, source: StrEnum | None, target: StrEnum, *, reopens: bool = False) -> Move | None:
        """The row from ``source`` to ``target``, or None if the move is illegal.

        ``reopens``: find the row for a new action that reopens a dismissed one.
        """
        return next(
            (
                m
                for m in self.moves
                if m.source == source
                and m.target == target
                and m.through is None
                and (m.when is When.REOPENS) == reopens
            ),
            None,
        )

    def open_from(self, source: StrEnum) -> tuple[Move, ...]:
        """The rows whose source is this state."""
        return tuple(m for m in self.moves if m.source == source)

    def by_verb(self, verb: V) -> tuple[Move, ...]:
        """The rows with this verb."""
        return tuple(m for m in self.moves if m.verb is verb)

    def verb_to(self, target: StrEnum) -> V | None:
        """The verb that leads from other states to ``target``, or None. Each state has at most one."""
        return next((m.verb for m in self.moves if m.source is not None and m.target == target), None)

    def target_of(self, verb: V) -> StrEnum | None:
        """The state that this verb leads to from other states; None for a verb that only creates objects."""
        return next((m.target for m in self.by_verb(verb) if m.source is not None), None)


def _by(*who: Who) -> frozenset[Who]:
    return frozenset(who)


_SERVICE, _INTEGRATION, _RATER = Who.SERVICE, Who.INTEGRATION, Who.RATER
_MODERATOR, _OPERATOR, _REPORTER = Who.MODERATOR, Who.OPERATOR, Who.REPORTER

ACTION = Machine(
    "action",
    "action_state",
    A,
    (
        Move(
            None,
            A.PROPOSED,
            _by(_SERVICE),
            "a Tier 1 score; every proposal to carry out",
            V.PROPOSE,
            (E.ACTION_CREATED,),
        ),
        Move(
            None,
            A.UNDER_REVIEW,
            _by(_SERVICE, _INTEGRATION),
            "Tier 2 routing, a flag, or escalation",
            V.OPEN_REVIEW,
            (E.REVIEW_OPENED,),
        ),
        Move(None, A.APPLIED, _by(_INTEGRATION), "an action already taken is recorded", V.RECORD),
        Move(
            None,
            A.PROPOSED,
            _by(_MODERATOR),
            "a dismissal is reopened: act at once",
            V.REOPEN,
            (E.ACTION_CREATED,),
            When.REOPENS,
        ),
        Move(
            None,
            A.UNDER_REVIEW,
            _by(_MODERATOR, _SERVICE),
            "a dismissal is reopened: by a moderator, or by reports of both sides",
            V.REOPEN,
            (E.REVIEW_OPENED,),
            When.REOPENS,
        ),
        Move(
            A.UNDER_REVIEW,
            A.PROPOSED,
            _by(_SERVICE, _MODERATOR),
            "consensus or force-publish: act",
            V.FORCE_PUBLISH,
            (E.ACTION_CREATED,),
        ),
        Move(
            A.UNDER_REVIEW,
            A.DISMISSED,
            _by(_SERVICE, _MODERATOR),
            "consensus or moderator: no action",
            V.DISMISS,
            (E.ACTION_DISMISSED,),
        ),
        Move(
            A.UNDER_REVIEW,
            A.APPLIED,
            _by(_INTEGRATION),
            "the platform acted during the review",
            V.ACKNOWLEDGE,
            (E.ACTION_APPLIED,),
        ),
        Move(A.PROPOSED, A.APPLIED, _by(_INTEGRATION), "acknowledged", V.ACKNOWLEDGE, (E.ACTION_APPLIED,)),
        Move(
            A.PROPOSED,
            A.UNDER_REVIEW,
            _by(_MODERATOR),
            "held for review before the platform acts",
            V.RETURN_TO_REVIEW,
            (E.REVIEW_OPENED,),
        ),
        Move(
            A.PROPOSED,
            A.DISMISSED,
            _by(_MODERATOR),
            "withdrawn",
            V.DISMISS,
            (E.ACTION_DISMISSED,),
            undoes=True,
        ),
        Move(
            A.DISMISSED,
            A.APPLIED,
            _by(_INTEGRATION),
            "the platform acted before it received the dismissal",
            V.ACKNOWLEDGE,
            (E.ACTION_APPLIED,),
            When.ONCE_PROPOSED,
        ),
        Move(
            A.APPLIED,
            A.RETRO_REVIEW,
            _by(_SERVICE, _RATER, _MODERATOR, _INTEGRATION),
            "second look: the first rating of a Tier 1 rationale, an appeal, or a moderator",
            V.OPEN_SECOND_LOOK,
            (E.ACTION_RETRO_REVIEW,),
        ),
        Move(
            A.APPLIED,
            A.CONFIRMED,
            _by(_MODERATOR),
            "a moderator upholds what a score alone did: a second look is opened and ends at once",
            V.CONFIRM,
            when=When.SCORE_ALONE,
            through=A.RETRO_REVIEW,
        ),
        Move(
            A.APPLIED,
            A.OVERTURNED,
            _by(_SERVICE, _MODERATOR),
            "overturned",
            V.OVERTURN,
            (E.ACTION_OVERTURNED,),
            undoes=True,
        ),
        Move(
            A.RETRO_REVIEW,
            A.CONFIRMED,
            _by(_SERVICE, _MODERATOR),
            "consensus, moderator, or 14 days without consensus",
            V.CONFIRM,
            (E.ACTION_CONFIRMED,),
        ),
        Move(
            A.RETRO_REVIEW,
            A.OVERTURNED,
            _by(_SERVICE, _MODERATOR),
            "consensus or moderator",
            V.OVERTURN,
            (E.ACTION_OVERTURNED,),
            undoes=True,
        ),
        Move(
            A.OVERTURNED,
            A.SCAN_EXEMPT,
            _by(_SERVICE),
            "the unhide is acknowledged: not scanned again",
            V.EXEMPT,
        ),
    ),
)

REQUEST = Machine(
    "request",
    "status",
    R,
    (
        Move(None, R.PENDING, _by(_SERVICE, _INTEGRATION), "submitted"),
        Move(R.PENDING, R.IN_PROGRESS, _by(_SERVICE), "a worker starts scoring, or people are to decide"),
        Move(R.IN_PROGRESS, R.COMPLETED, _by(_SERVICE), "nothing matched, or a decision was made"),
        Move(R.IN_PROGRESS, R.FAILED, _by(_SERVICE), "scoring failed and is not retried"),
        Move(R.PENDING, R.FAILED, _by(_SERVICE), "scoring could not start"),
        Move(R.FAILED, R.PENDING, _by(_INTEGRATION, _MODERATOR, _OPERATOR), "try again"),
        Move(R.COMPLETED, R.IN_PROGRESS, _by(_SERVICE, _INTEGRATION), "escalated to staff review"),
        Move(
            R.PENDING,
            R.COMPLETED,
            _by(_SERVICE),
            "scored at once, exempt from scanning, or decided before scoring",
        ),
        Move(R.FAILED, R.COMPLETED, _by(_SERVICE), "decided by people although scoring failed"),
    ),
)

_EACH_WAY = tuple(
    Move(source, target, _by(_SERVICE, _MODERATOR), why, verb, (E.NOTE_STATUS,))
    for source in N
    for target, why, verb in (
        (N.CURRENTLY_RATED_HELPFUL, "rated helpful across viewpoints, or force-published", V.FORCE_PUBLISH),
        (N.CURRENTLY_RATED_NOT_HELPFUL, "rated not helpful, or dismissed", V.DISMISS),
        (N.NEEDS_MORE_RATINGS, "ratings no longer suffice", None),
    )
    if source != target
)

NOTE = Machine(
    "note",
    "status",
    N,
    (
        Move(None, N.NEEDS_MORE_RATINGS, _by(_SERVICE, _INTEGRATION, _RATER, _MODERATOR), "written"),
        *_EACH_WAY,
    ),
)

REPORT = Machine(
    "report",
    "state",
    P,
    (
        Move(None, P.OPEN, _by(_REPORTER), "a person reports a post"),
        Move(P.OPEN, P.UPHELD, _by(_SERVICE), "the platform acted on the post", events=(E.REPORT_RESOLVED,)),
        Move(P.OPEN, P.REJECTED, _by(_SERVICE), "the post was kept", events=(E.REPORT_RESOLVED,)),
        Move(P.OPEN, P.UNDECIDED, _by(_SERVICE), "there was no decision", events=(E.REPORT_RESOLVED,)),
        Move(P.OPEN, P.WITHDRAWN, _by(_REPORTER), "the reporter takes it back"),
    ),
)

MACHINES = (REQUEST, NOTE, ACTION, REPORT)
