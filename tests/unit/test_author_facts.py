"""Facts about authors in the metadata of submissions."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.core.author_facts import NO_FACTS, AuthorFacts, author_facts


def test_facts_are_read_from_the_metadata() -> None:
    author = {"account_created_at": "2026-05-01T12:00:00+02:00", "posts_count": 7, "trust_level": 0}
    assert author_facts({"author": author, "views": 3}) == AuthorFacts(
        datetime(2026, 5, 1, 10, tzinfo=UTC), posts_count=7, trust_level=0
    )


def test_one_malformed_fact_does_not_lose_the_others() -> None:
    author = {"account_created_at": "yesterday", "posts_count": 7, "trust_level": "high"}
    assert author_facts({"author": author}) == AuthorFacts(posts_count=7)


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        [],
        {},
        {"author": None},
        {"author": "gull_0"},
        {"author": [1]},
        {"author": {"account_created_at": "2026-05-01T12:00:00"}},
        {"author": {"account_created_at": "0001-01-01T00:00:00+14:00"}},
        {"author": {"account_created_at": 1_700_000_000}},
        {"author": {"account_created_at": "9" * 100_000}},
        {"author": {"posts_count": True, "trust_level": False}},
        {"author": {"posts_count": -1, "trust_level": 101}},
        {"author": {"posts_count": 2**31, "trust_level": 1.5}},
        {"author": {"posts_count": {"a": 1}, "trust_level": [2]}},
    ],
)
def test_what_is_malformed_is_no_fact(metadata: Any) -> None:
    assert author_facts(metadata) == NO_FACTS
