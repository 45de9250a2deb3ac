"""Which states there are and who may move what where: pure data, one table per machine.

docs/integration.md explains the states to integrations. Buttons, the API's refusals, the documentation and the
every-move-from-every-state test all read these tables; only ``actions.moves.make_move`` acts on them.
"""

from dataclasses import dataclass
from enum import StrEnum

from app.core.vocabulary import ActionState as A
from app.core.vocabulary import EventName as E
from app.core.vocabulary import NoteStatus as N
from app.core.vocabulary import RequestStatus as R


class Who(StrEnum):
    """Whose move it is. A moderator is a person with the role, or a staff call of a key."""

    SERVICE = "service"
    INTEGRATION = "integration"
    RATER = "rater"
    MODERATOR = "moderator"
    OPERATOR = "operator"


class When(StrEnum):
    """A condition beyond the state itself."""

    ONCE_PROPOSED = "once proposed"
    REOPENS = "reopens a dismissal"


@dataclass(frozen=True)
class Move:
    """One row: ``source`` None means the object begins in ``target``; ``events`` go to subscribers."""

    source: StrEnum | None
    target: StrEnum
    who: frozenset[Who]
    why: str
    events: tuple[E, ...] = ()
    when: When | None = None


@dataclass(frozen=True)
class Machine:
    """A table of moves over one enum. ``field`` is the attribute that carries the state."""

    name: str
    field: str
    states: type[StrEnum]
    moves: tuple[Move, ...]

    def find(self, source: StrEnum | None, target: StrEnum, *, reopens: bool = False) -> Move | None:
        """The row from ``source`` to ``target``, or None: the move is illegal.

        ``reopens``: the row by which an object begins that takes up a dismissed one again.
        """
        return next(
            (
                m
                for m in self.moves
                if m.source == source and m.target == target and (m.when is When.REOPENS) == reopens
            ),
            None,
        )

    def open_from(self, source: StrEnum) -> tuple[Move, ...]:
        return tuple(m for m in self.moves if m.source == source)


def _by(*who: Who) -> frozenset[Who]:
    return frozenset(who)


_SERVICE, _INTEGRATION, _RATER = Who.SERVICE, Who.INTEGRATION, Who.RATER
_MODERATOR, _OPERATOR = Who.MODERATOR, Who.OPERATOR

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
            (E.ACTION_CREATED,),
        ),
        Move(None, A.UNDER_REVIEW, _by(_SERVICE, _INTEGRATION), "Tier 2 routing, a flag, or escalation"),
        Move(None, A.APPLIED, _by(_INTEGRATION), "an action already taken is recorded"),
        Move(
            None,
            A.PROPOSED,
            _by(_MODERATOR),
            "a dismissal is reopened: act at once",
            (E.ACTION_CREATED,),
            When.REOPENS,
        ),
        Move(
            None,
            A.UNDER_REVIEW,
            _by(_MODERATOR),
            "a dismissal is reopened: members or staff review it again",
            (),
            When.REOPENS,
        ),
        Move(
            A.UNDER_REVIEW,
            A.PROPOSED,
            _by(_SERVICE, _MODERATOR),
            "consensus or force-publish: act",
            (E.ACTION_CREATED,),
        ),
        Move(
            A.UNDER_REVIEW,
            A.DISMISSED,
            _by(_SERVICE, _MODERATOR),
            "consensus or moderator: no action",
            (E.ACTION_DISMISSED,),
        ),
        Move(A.UNDER_REVIEW, A.APPLIED, _by(_INTEGRATION), "it acted during the review", (E.ACTION_APPLIED,)),
        Move(A.PROPOSED, A.APPLIED, _by(_INTEGRATION), "acknowledged", (E.ACTION_APPLIED,)),
        Move(A.PROPOSED, A.UNDER_REVIEW, _by(_MODERATOR), "held for review before the platform acts"),
        Move(A.PROPOSED, A.DISMISSED, _by(_MODERATOR), "withdrawn", (E.ACTION_DISMISSED,)),
        Move(
            A.DISMISSED,
            A.APPLIED,
            _by(_INTEGRATION),
            "it acted before it heard",
            (E.ACTION_APPLIED,),
            When.ONCE_PROPOSED,
        ),
        Move(
            A.APPLIED,
            A.RETRO_REVIEW,
            _by(_SERVICE, _RATER, _MODERATOR, _INTEGRATION),
            "second look: the first rating of a Tier 1 rationale, an appeal, or a moderator",
            (E.ACTION_RETRO_REVIEW,),
        ),
        Move(A.APPLIED, A.OVERTURNED, _by(_SERVICE, _MODERATOR), "overturned", (E.ACTION_OVERTURNED,)),
        Move(
            A.RETRO_REVIEW,
            A.CONFIRMED,
            _by(_SERVICE, _MODERATOR),
            "consensus, moderator, or 14 days without consensus",
            (E.ACTION_CONFIRMED,),
        ),
        Move(
            A.RETRO_REVIEW,
            A.OVERTURNED,
            _by(_SERVICE, _MODERATOR),
            "consensus or moderator",
            (E.ACTION_OVERTURNED,),
        ),
        Move(A.OVERTURNED, A.SCAN_EXEMPT, _by(_SERVICE), "the unhide is acknowledged: not scanned again"),
    ),
)

REQUEST = Machine(
    "request",
    "status",
    R,
    (
        Move(None, R.PENDING, _by(_SERVICE, _INTEGRATION), "submitted"),
        Move(R.PENDING, R.IN_PROGRESS, _by(_SERVICE), "a worker starts scoring"),
        Move(R.IN_PROGRESS, R.COMPLETED, _by(_SERVICE), "nothing matched, or a decision was made"),
        Move(R.IN_PROGRESS, R.FAILED, _by(_SERVICE), "scoring failed for good"),
        Move(R.PENDING, R.FAILED, _by(_SERVICE), "scoring could not start"),
        Move(R.FAILED, R.PENDING, _by(_INTEGRATION, _MODERATOR, _OPERATOR), "try again"),
        Move(R.COMPLETED, R.IN_PROGRESS, _by(_SERVICE, _INTEGRATION), "escalated to staff review"),
        Move(R.PENDING, R.COMPLETED, _by(_SERVICE), "exempt from scanning, or decided before scoring"),
        Move(R.FAILED, R.COMPLETED, _by(_SERVICE), "decided by people although scoring failed"),
    ),
)

_EACH_WAY = tuple(
    Move(source, target, _by(_SERVICE, _MODERATOR), why, (E.NOTE_STATUS,))
    for source in N
    for target, why in (
        (N.CURRENTLY_RATED_HELPFUL, "rated helpful across viewpoints, or force-published"),
        (N.CURRENTLY_RATED_NOT_HELPFUL, "rated not helpful, or dismissed"),
        (N.NEEDS_MORE_RATINGS, "ratings no longer suffice"),
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

MACHINES = (REQUEST, NOTE, ACTION)
