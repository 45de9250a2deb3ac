"""What a large installation has beside posts: members, fact-checks, and as many webhooks as a community may have."""

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from app.core import limits
from app.core.models import Account, FactCheckItem, Membership, Webhook
from app.core.vocabulary import ClaimRating, Role
from tests.cast import Cast

ITEMS_OF_A_DATASET = 10_000
PUBLISHERS = 40


def add(write: Any, people: Cast, requests: int, begin: datetime, new_id: Callable[[datetime], UUID]) -> None:
    """For each 1,000 posts 50 members at home and 200 fact-checks; webhooks up to the limit, from the first post on."""
    chance = Random(7)  # noqa: S311 - the same rows each time
    for number in range(requests // 20):
        at = begin + timedelta(seconds=number)
        stamps = {"created_at": at, "updated_at": at}
        account_id = new_id(at)
        write.add(
            Account,
            **stamps,
            id=account_id,
            email=f"member-{number}@example.org",
            display_name=f"Member {number}",
            password_hash="none",
            confirmed_at=at,
        )
        role = Role.MODERATOR if number % 1_000 == 0 else Role.RATER
        write.add(
            Membership,
            **stamps,
            id=new_id(at),
            account_id=account_id,
            community_id=people.community_id,
            role=role,
            welcomed_at=at,
        )
    ratings = [*ClaimRating, None]
    for number in range(requests // 5):
        at = begin + timedelta(seconds=number)
        write.add(
            FactCheckItem,
            id=new_id(at),
            community_id=people.community_id if number % 3 == 0 else None,
            dataset_name=f"checks-{number // ITEMS_OF_A_DATASET}",
            item_id=f"check-{number}",
            claim=f"The ferry number {number} sank in the harbour",
            rating=chance.choice(ratings),
            rating_given="Rated",
            url=f"https://facts.example/{number}",
            publisher=f"Publisher {number % PUBLISHERS}",
            number=number,
            created_at=at,
            updated_at=at,
        )
    for number in range(min(limits.WEBHOOKS.number - 1, requests // 1_000)):
        write.add(
            Webhook,
            id=new_id(begin),
            community_id=people.community_id,
            url=f"https://forum.example/hook-{number}",
            secret=b"sealed",
            created_at=begin,
            updated_at=begin,
        )
    write.flush()
