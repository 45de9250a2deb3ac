"""One panel's turn: who was drawn so far, and who comes next."""

import uuid
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from app.core.models import Action, Panel, Request
from app.core.panels import draw, panels
from app.core.panels.draw import Order, Side
from app.core.vocabulary import SeatState


@dataclass
class Work:
    """One panel's turn: ``states`` are the people that the draw came to so far, ``left`` those that come next.

    ``sides`` are those of the people that it came to.
    """

    panel: Panel
    action: Action
    request: Request
    left: dict[Side, list[uuid.UUID]] = field(default_factory=dict)
    sides: dict[uuid.UUID, Side] = field(default_factory=dict)
    is_all: bool = True
    states: dict[uuid.UUID, SeatState] = field(default_factory=dict)
    expires: list[datetime] = field(default_factory=list)
    drawn: list[uuid.UUID] = field(default_factory=list)
    is_waiting: bool = False
    """Whether nobody is left but people who had too many open seats, and may have fewer later."""
    numbers: int = 0
    """How many people the draw came to, whether or not they could be asked."""

    @property
    def held(self) -> Counter[SeatState]:
        return Counter(self.states.values())

    @property
    def asked(self) -> int:
        return len(self.states) - self.held[SeatState.PASSED]

    @property
    def missing(self) -> int:
        """How many people to draw now."""
        held = self.held
        seated = held[SeatState.OPEN] + held[SeatState.ANSWERED]
        return max(0, min(self.panel.wanted - seated, panels.MOST_SEATS - self.asked))

    def order_by(self, found: Order) -> None:
        came_to = self.states.keys()
        self.left = {
            side: [person for person in people if person not in came_to] if came_to else list(people)
            for side, people in found.sides.items()
        }
        self.sides = (
            {person: side for side, people in found.sides.items() for person in people if person in came_to}
            if came_to
            else {}
        )
        self.is_all = found.is_all

    def next_people(self) -> list[uuid.UUID]:
        """Take as many people as are missing from the order, as if all of them could be asked."""
        seated = Counter(
            self.sides.get(person, Side.UNKNOWN)
            for person, state in self.states.items()
            if state in (SeatState.OPEN, SeatState.ANSWERED)
        )
        taken: list[uuid.UUID] = []
        missing = self.missing
        while len(taken) < missing:
            side = draw.next_side(self.left, seated, self.panel.seed)
            if side is None:
                break
            person = self.left[side].pop(0)
            self.sides[person] = side
            taken.append(person)
            seated[side] += 1
        return taken
