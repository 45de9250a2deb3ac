"""Spam played as waves of new accounts among ordinary talk: what a rule of behaviour finds, and the rows of the queue.

    python -m tools.bench.waves FOLDER        # a folder with train.jsonl.gz: text, labels, source

Of each of 12 spam texts 25 new accounts post versions, some words and the link changed: 300 posts among 10,000 ordinary
ones by 2,000 other accounts, within a day. No text is kept or printed. Half of the day is scored without the rule,
which is then tried in a preview, put in force, and scores the other half.
"""

import gzip
import json
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from app import migrations
from app.core import clock
from app.core.models import Action, Score
from app.core.requests import submitting
from app.core.requests.submitting import Submission
from app.core.rulesets import drafts, trials, versions
from app.core.vocabulary import ActionState
from app.jobs.scoring import Scorer
from app.settings import Settings
from app.wiring import wire
from tests import factories
from tests.cast import Cast, assemble
from tests.inline_engine import InlineEngine

TALK = frozenset({"goemotions", "wikitalk", "ubuntu_irc", "stackoverflow", "sms", "youtube"})
ORDINARY, ACCOUNTS, WAVES, IN_WAVE = 10_000, 2_000, 12, 25
RULE: dict[str, Any] = {
    "id": "wave.new-accounts",
    "category": "spam",
    "kind": "facts",
    "when": {"account_age_hours": {"below": 48}, "alike_authors": {"at_least": 2}},
    "weight": 0.85,
}
"""What an operator would try first: the text of a new account was posted by another one within the day."""


@dataclass(frozen=True)
class Post:
    minute: float
    author: str
    text: str
    created_at: datetime
    wave: int | None = None


def texts(folder: Path) -> tuple[list[str], list[str]]:
    """Texts labelled as spam, and others, each once."""
    spam, ordinary = [], []
    with gzip.open(folder / "train.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["labels"].get("spam") == 1 and len(row["text"]) >= 60:
                spam.append(row["text"])
            elif row["source"] in TALK and row["labels"].get("spam", 0) == 0:
                ordinary.append(row["text"])
    return spam, ordinary


def varied(text: str, chance: random.Random) -> str:
    """A version of a spam text: about one word of twelve changed, another link, sometimes a greeting."""
    words = [
        f"{word}{chance.choice('abcxyz')}" if chance.random() < 1 / 12 else word for word in text.split()
    ]
    greeting = chance.choice(["", "", "Hi all! ", "Hello, "])
    return f"{greeting}{' '.join(words)} https://offer-{chance.randrange(10**6)}.example/{chance.randrange(10**4)}"


def day(folder: Path, begin: datetime) -> list[Post]:
    chance = random.Random(11)  # noqa: S311 - the same day each time
    spam, ordinary = texts(folder)
    posts = [
        Post(
            chance.uniform(0, 1_440),
            f"member-{(member := int(chance.paretovariate(0.9)) % ACCOUNTS)}",
            text,
            # One in twenty members is new too.
            begin - timedelta(hours=12 if member % 20 == 0 else 24 * (30 + member)),
        )
        for text in chance.sample(ordinary, ORDINARY)
    ]
    for wave, text in enumerate(chance.sample(spam, WAVES)):
        start = 30 + wave * 1_300 / WAVES
        posts += [
            Post(
                start + chance.expovariate(1 / 20),
                f"new-{wave}-{number}",
                varied(text, chance),
                begin + timedelta(minutes=start - chance.uniform(0, 600)),
                wave,
            )
            for number in range(IN_WAVE)
        ]
    return sorted(posts, key=lambda post: post.minute)


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="bridgenote-bench-") as data:
        settings = Settings(
            _env_file=None, environment="test", data_dir=Path(data), rate_limit_enabled=False
        ).ready()
        wiring = wire(settings)
        migrations.upgrade(wiring.database.engine)
        jobs = InlineEngine(wiring.database.engine)
        jobs.prepare()
        wiring.attach(jobs)
        play(wiring, assemble(wiring.database), folder)
        wiring.database.dispose()


def play(wiring: Any, cast: Cast, folder: Path) -> None:
    begin = clock.now() - timedelta(days=1)
    posts = day(folder, begin)
    operator = factories.actor_of(wiring, cast.operator)
    half = [post for post in posts if post.minute < 720]
    ids = score(wiring, cast, half, begin)
    with wiring.database.writing() as session:
        drafts.put_rule(session, operator, cast.community_id, RULE)
    with wiring.database.reading() as session:
        standing = versions.standing(session, operator, cast.community_id)
        base = wiring.classifiers_for(session, cast.community_id)
        hits = trials.try_on_stored(
            session, operator, cast.community_id, base, standing.in_force, standing.draft, seconds=120
        )
    in_half = sum(post.wave is not None for post in half)
    print(
        f"preview: {hits.read:,} posts read, the rule hits {hits.by_rule[RULE['id']]} ({in_half} are of a wave)"
    )
    with wiring.database.writing() as session:
        session.execute(sa.text("UPDATE communities SET settings = '{}'"))
        drafts.publish(session, operator, cast.community_id, "Waves of new accounts")
    later = [post for post in posts if post.minute >= 720]
    ids |= score(wiring, cast, later, begin)
    report(wiring, ids, later)


def score(wiring: Any, cast: Cast, posts: list[Post], begin: datetime) -> dict[Any, Post]:
    ids: dict[Any, Post] = {}
    actor = factories.integration(cast)
    scorer = Scorer(wiring, seconds=3600)
    started, processor = time.perf_counter(), time.process_time()
    for first in range(0, len(posts), 20):
        with wiring.database.writing() as session:
            batch = []
            for number, post in enumerate(posts[first : first + 20]):
                submission = Submission(
                    f"{post.minute:.6f}-{number}",
                    "forum",
                    post.text,
                    platform_author_id=post.author,
                    extra={"author": {"account_created_at": clock.iso(post.created_at)}},
                )
                made = submitting.submit(session, actor, cast.community_id, submission).request
                made.requested_at = begin + timedelta(minutes=post.minute)
                batch.append(made.id)
                ids[made.id] = post
        scorer.score(batch[0])
    count = len(posts)
    print(
        f"scored {count:,} posts: {(time.process_time() - processor) / count * 1000:.2f} ms of processor a post, "
        f"{count / (time.perf_counter() - started):.0f} posts/s"
    )
    return ids


def report(wiring: Any, ids: dict[Any, Post], later: list[Post]) -> None:
    with wiring.database.reading() as session:
        hit = set(
            session.scalars(
                sa.select(Score.request_id).where(Score.classifier == "community.rules", Score.score > 0.5)
            )
        )
        actions = session.execute(
            sa.select(Action.request_id, Action.id, Action.wave_id, Action.category, Action.action_state)
        ).all()
    spam = [post for post in later if post.wave is not None]
    ordinary = [post for post in later if post.wave is None]
    found = [ids[one] for one in hit]
    caught = sum(post.wave is not None for post in found)
    raised = sum(post.wave is None for post in found)
    print(f"caught by the rule: {caught} of {len(spam)} ({caught / len(spam):.1%})")
    print(f"ordinary talk raised by the rule: {raised} of {len(ordinary):,} ({raised / len(ordinary):.2%})")
    rows: Counter[tuple[int, str]] = Counter()
    seen = set()
    for request_id, action_id, wave_id, category, state in actions:
        post = ids[request_id]
        if request_id in hit and post.wave is not None and state is ActionState.UNDER_REVIEW:
            key = wave_id or action_id
            if (post.wave, key) not in seen:
                seen.add((post.wave, key))
                rows[post.wave, category] += 1
    print("rows of the queue by wave and category:")
    for (wave, category), count in sorted(rows.items()):
        print(f"  wave {wave}, {category}: {count}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
