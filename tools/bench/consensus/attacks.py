"""Ways to bend a vote, and what each adds to a community's votes."""

from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from app.core.scoring import BoolArray, IntArray
from tools.bench.consensus.population import NO, UNSURE, YES, Community, Votes, levels

PARTICIPATION = 0.8
"""Share of the organised who vote on any one target."""
DELAY = 3.0
"""Mean hours after which they do: a call goes round, honest people come across it."""
RUSH = 0.05
"""The same where they rush, to come before everybody else."""
WARMING = 0.2
"""Hours between a new account and its vote."""
CAMP = 1
"""The camp that attacks; the other is its mirror image."""


class Attack(StrEnum):
    """Who attacks, in the words of the table."""

    PILE_ON = "pile-on of one camp"
    SYBILS = "new accounts"
    AGED_SYBILS = "accounts kept for it"
    CARELESS = "careless raters"
    NEUTRAL = "neutral votes to block"
    PROTECT = "pile-on to protect"
    FALSE_RECORD = "false record on the other side"


@dataclass(frozen=True, eq=False)
class Struck:
    """A community under attack. ``targets`` is one flag per piece of content; its votes are in ``community``.

    ``organised`` answer ``level`` to a target whoever asks them.
    """

    community: Community
    targets: BoolArray
    organised: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    level: int = YES


def strike(
    dice: np.random.Generator,
    community: Community,
    attack: Attack | None,
    share: float,
    since: float,
    *,
    rushed: bool = False,
    volunteering: bool = True,
) -> Struck:
    """The community with ``share`` of its raters attacking content that opens from the hour ``since`` on.

    - ``PILE_ON``: members of one camp vote "act" on all of the other camp's content that must stay.
    - ``SYBILS``: as many accounts, new for each target, vote "act" on the same content.
    - ``AGED_SYBILS``: accounts that were made long before and never voted do, all of them on every target.
    - ``CARELESS``: nothing is organised; see ``population.community``. Everything is a target.
    - ``FALSE_RECORD``: as ``PILE_ON``, by members who vote on everything else, always, as the other camp would.
    - ``NEUTRAL`` and ``PROTECT``: members of a camp vote "not sure", or "no", on their own content that should go.

    ``rushed``: their votes come first. Not ``volunteering``: members of a camp vote on targets only when a panel
    asks them.

    Members of a camp go on voting honestly on everything else. Accounts that are nobody's are that share of all.
    """
    content = community.content
    late, delay = content.reviewed & (content.opened >= since), RUSH if rushed else DELAY
    if attack is None or attack is Attack.CARELESS or share == 0:
        return Struck(community, late)
    if attack in {Attack.NEUTRAL, Attack.PROTECT}:
        targets = late & content.should_go & (content.owner == CAMP)
    else:
        targets = late & content.must_stay & (content.owner != CAMP)
    if attack in {Attack.SYBILS, Attack.AGED_SYBILS}:
        struck = _with_accounts(dice, community, targets, share, attack, delay)
        return Struck(struck, targets, np.arange(len(community.people), len(struck.people)))
    level = {Attack.NEUTRAL: UNSURE, Attack.PROTECT: NO}.get(attack, YES)
    members = np.flatnonzero(community.people.camp == CAMP)
    organised = dice.permutation(members)[: round(share * len(community.people))]
    if attack is Attack.FALSE_RECORD:
        community = _pretending(dice, community, organised)
    votes = _organised_votes(dice, community, np.flatnonzero(targets), organised, level, delay)
    if volunteering:
        votes = community.votes.joined(votes)
    else:
        votes = community.votes.where(
            ~(targets[community.votes.item] & np.isin(community.votes.rater, organised))
        )
    return Struck(replace(community, votes=votes), targets, organised, level)


def _pretending(dice: np.random.Generator, community: Community, organised: IntArray) -> Community:
    """The community where the organised vote as if they were of the other camp."""
    viewpoint, votes = community.people.viewpoint.copy(), community.votes
    viewpoint[organised] *= -1
    people = replace(community.people, viewpoint=viewpoint)
    level, theirs = votes.level.copy(), np.isin(votes.rater, organised)
    level[theirs] = levels(dice, people, community.content, votes.item[theirs], votes.rater[theirs])
    return replace(community, people=people, votes=replace(votes, level=level))


def _organised_votes(
    dice: np.random.Generator,
    community: Community,
    targets: IntArray,
    organised: IntArray,
    level: int,
    delay: float,
) -> Votes:
    there = dice.random((len(targets), len(organised))) < PARTICIPATION
    which, who = np.nonzero(there)
    at = community.content.opened[targets[which]] + dice.exponential(delay, len(which))
    return Votes(targets[which], organised[who], np.full(len(which), level, np.int8), at)


def _with_accounts(
    dice: np.random.Generator,
    community: Community,
    targets: BoolArray,
    share: float,
    attack: Attack,
    delay: float,
) -> Community:
    people, places = community.people, np.flatnonzero(targets)
    count = round(len(people) * share / (1 - share))
    if attack is Attack.AGED_SYBILS:
        accounts = len(people) + np.arange(count)
        votes = _organised_votes(dice, community, places, accounts, YES, delay)
        people = people.and_accounts(np.full(count, -np.inf))
    else:
        item = np.repeat(places, count)
        at = community.content.opened[item] + WARMING + dice.exponential(delay, len(item))
        votes = Votes(item, len(people) + np.arange(len(item)), np.full(len(item), YES, np.int8), at)
        people = people.and_accounts(at - WARMING)
    return replace(community, people=people, votes=community.votes.joined(votes))
