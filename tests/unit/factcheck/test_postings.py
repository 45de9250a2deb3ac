"""The full-text index is read from the database once: what a process keeps of it stays right as items are added."""

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.factcheck import postings, search, storing
from app.core.factcheck.items import Item
from app.core.factcheck.matching import candidates, terms
from app.core.factcheck.matching.index import MemoryIndex
from app.core.factcheck.matching.weights import shipped
from app.core.models import FactCheckItem, FactCheckPosting
from app.wiring import Wiring
from tests.cast import Cast

CLAIMS = [
    f"The {who} of {where} {did}"
    for who, did in (("mayor", "sold ten herring"), ("ferry", "sank"), ("lighthouse", "was sold"))
    for where in ("Vellmar", "Norrvik", "Brahe", "Aldmoor")
]
POSTS = ["A herring sold in Vellmar", "the ferry sank at Brahe", "Aldmoor sold a lighthouse and a ferry"]


def item(number: int, claim: str) -> Item:
    url = f"https://checks.example.org/{number}"
    return Item("checks", f"item-{number}", claim, "False", url, "Checks", language="en")


def everything(session: Session, size: int = len(CLAIMS)) -> postings.Owner:
    """The shared items when there were so many of them."""
    first = session.scalar(sa.select(FactCheckItem.id).where(FactCheckItem.number == 0))
    return postings.Owner(search.SHARED, size, first)


def same_as_memory(wiring: Wiring, cast: Cast, shared: list[str], own: list[str]) -> None:
    memory = MemoryIndex([(claim, "") for claim in (*shared, *own)])
    with wiring.database.reading() as session:
        stored = search.DatabaseIndex(session, cast.community_id)
        assert stored.size == memory.size
        for post in POSTS:
            here, there = (
                candidates.find(terms.read(post), index, shipped().background) for index in (stored, memory)
            )
            assert [one.number for one in here.found] == [one.number for one in there.found], post
            assert here.rarity == there.rarity, post


@pytest.mark.both_databases
def test_what_is_kept_of_the_index_follows_every_import(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "BLOCK", 4)
    for end in (3, 6, 7, 12):
        with wiring.database.writing() as session:
            storing.keep(session, [item(number, claim) for number, claim in enumerate(CLAIMS[:end])])
            storing.keep(session, [item(100 + end, CLAIMS[end - 1])], cast.community_id)
        own = [CLAIMS[known - 1] for known in (3, 6, 7, 12) if known <= end]
        same_as_memory(wiring, cast, CLAIMS[:end], own)
    with wiring.database.writing() as session:
        session.execute(sa.delete(FactCheckPosting).where(FactCheckPosting.word != postings.EVERY_ITEM))
    same_as_memory(wiring, cast, CLAIMS, own)


def test_nothing_is_kept_of_an_import_that_is_rolled_back(wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        storing.keep(session, [item(1, CLAIMS[0])])
        assert search.find(session, CLAIMS[0], None) is not None
        session.rollback()
    with wiring.database.writing() as session:
        storing.keep(session, [item(2, CLAIMS[5])])
    with wiring.database.reading() as session:
        assert search.find(session, CLAIMS[0], None) is None
        assert search.find(session, CLAIMS[5], None) is not None


def test_items_that_were_added_after_the_size_was_read_are_left_out(wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        storing.keep(session, [item(number, claim) for number, claim in enumerate(CLAIMS)])
    with wiring.database.reading() as session:
        found = postings.numbers(session, everything(session, 2), ["mayor", "ferry"])
        assert {word: list(numbers) for word, numbers in found.items()} == {"mayor": [0, 1]}


def test_the_words_used_longest_ago_leave_the_memory(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> None:
    with wiring.database.writing() as session:
        storing.keep(session, [item(number, claim) for number, claim in enumerate(CLAIMS)])
    monkeypatch.setattr(postings, "BYTES_MAX", 700)
    monkeypatch.setattr(postings, "COUNTS_MAX", 2)
    with wiring.database.reading() as session:
        for word in ("mayor", "ferry", "sank"):
            assert postings.numbers(session, everything(session), [word])[word].size == 4
            assert postings.counts(session, everything(session), [word]) == {word: 4}
    with wiring.database.writing() as session:
        session.execute(sa.delete(FactCheckPosting))
    with wiring.database.reading() as session:
        known = ["mayor", "ferry", "sank"]
        assert postings.numbers(session, everything(session), known).keys() == {"ferry", "sank"}
        assert postings.counts(session, everything(session), known) == {"ferry": 4, "sank": 4}
