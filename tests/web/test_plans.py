"""What pages and calls read of a large database: a bounded number of blocks, with as many queries as of a small one.

The statements that each page really sent are explained with what they read (PostgreSQL only). A page that reads a
whole table of these needs thousands of blocks.
"""

import uuid
from datetime import datetime
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import clock, limits
from app.core.models import (
    Account,
    Action,
    Attempt,
    Community,
    Decision,
    Delivery,
    Event,
    HistoryEntry,
    HistoryText,
    InsightGroup,
    InsightOutcome,
    InsightSlot,
    Note,
    PostScores,
    Rating,
    Request,
    Rollup,
    Score,
    Webhook,
)
from app.core.people import sessions
from app.core.permissions import SYSTEM
from app.core.thresholds import previews
from app.core.thresholds.drafts import CategoryDraft
from app.jobs.communities import roll_up
from app.wiring import Wiring
from tests import bulk, clocks
from tests.cast import Cast
from tools.bench.scale.walk import Recorder, counted_blocks

POSTS = 18_000
MOST_BLOCKS = 1_500
"""For a page. The tables of posts, actions, history and deliveries have about 900, 600, 2,500 and 500 blocks."""
OTHERS = {
    "queue, search for a common text": 2_300,
    "second look, search": 2_300,
    # The newest 3,000 entries with their texts.
    "history, search for a common reason": 6_500,
    "webhooks": 600,
    "webhook": 250,
    "deliveries of an event": 800,
    "deliveries of a rare event": 200,
    "replay": 400,
    # These count every row of a table, or of several.
    "requests, deep": 2_300,
    "requests of a status completed since": 2_300,
    "requests of a status, deep": 2_300,
    "scoring analysis": 2_300,
    "metrics": 4_000,
}
"""Pages with another number: some look up hundreds of posts, to search in them; others read tables of 500 blocks."""
PAGES = {
    "queue": "/review?sort=oldest",
    "queue by score": "/review?sort=score",
    "queue of an id": "/review?q=bulk-93",
    "help needed": "/help-needed",
    "second look": "/second-look",
    "second look, search": "/second-look?q=ferries",
    "history": "/history",
    "history, deep": "/history?older=9000",
    "history of a state": "/history?state=dismissed",
    "history of a category": "/history?category=spam",
    "history of a rare category": "/history?category=rare",
    "history of an author": "/history?author=author-7",
    "history of an actor": "/history?actor=Moderator",
    "history of a language": "/history?language=de",
    "history of a week": "/history?from={week}&to={week}",
    "history of a type": "/history?type=hide",
    "history of a type that nobody has": "/history?type=delete",
    "history of two filters without a match": "/history?type=delete&language=de",
    "queue by ratings": "/review?sort=ratings",
    "my impact": "/me",
    "history of an id": "/history?q=bulk-297",
    "history of settings": "/history/settings",
    "insights": "/insights?days=90",
    "insights of a month": "/insights?days=30",
    "classifiers": "/classifiers",
    "item": "/review/{item}",
    "webhooks": "/endpoints",
    "webhook": "/endpoints/{webhook}",
    "deliveries": "/deliveries",
    "deliveries of a state": "/deliveries?state=dead",
    "deliveries of an event": "/deliveries?event=note.status_changed",
    "deliveries of a rare event": "/deliveries?event=webhook.test",
    "replay": "/deliveries/replay?which=all",
}
OPERATORS = {
    "history of settings",
    "classifiers",
    "webhooks",
    "webhook",
    "deliveries",
    "deliveries of a state",
    "deliveries of an event",
    "deliveries of a rare event",
    "replay",
}
SEARCHES = {
    "queue, search for a common text": "/review?q=harbours%2C+ferries",
    "queue, search for a rare text": "/review?q=the+number+93+more",
    "history, search for a common text": "/history?q=harbours%2C+ferries",
    "history, search for a rare text": "/history?q=the+number+297+more",
    "history, search for a common reason": "/history?q=Because+of",
    "history, search for a rare reason": "/history?q=Because+of+17997",
    "history, search for nothing": "/history?q=zeppelin",
    "history, search for common words in a rare order": "/history?q=ferries+harbours",
}
"""A search asks more of a database with more posts than it reads one by one, so its queries are not compared."""
SINCE = "2020-01-01T00:00:00Z"
CALLS = {
    "requests": "/api/public/v1/requests?page[size]=100",
    "requests, deep": "/api/public/v1/requests?page[size]=100&page[number]={deep}",
    "actions": "/api/public/v1/moderation-actions?page[size]=100",
    "actions of a state": "/api/public/v1/moderation-actions?filter[action_state]=confirmed",
    "notes": "/api/public/v1/notes?page[size]=100",
    "notes of a status": "/api/public/v1/notes?filter[status]=NEEDS_MORE_RATINGS&page[size]=100",
    "decisions": "/api/public/v1/requests?status=decided&since=2020-01-01T00:00:00Z&page[size]=100",
    "requests completed since": f"/api/public/v1/requests?filter[completed_at__gte]={SINCE}&page[size]=100",
    "requests of a status completed since": (
        f"/api/public/v1/requests?filter[completed_at__gte]={SINCE}&filter[status]=FAILED"
    ),
    "actions changed since": f"/api/public/v1/moderation-actions?filter[updated_at__gte]={SINCE}",
    "notes changed since": f"/api/public/v1/notes?filter[updated_at__gte]={SINCE}&page[size]=100",
    "requests of a status, deep": (
        "/api/public/v1/requests?filter[status]=COMPLETED&page[size]=100&page[number]={deep}"
    ),
    "actions, deep": "/api/public/v1/moderation-actions?page[size]=100&page[number]={third}",
    "actions of a state, deep": (
        "/api/public/v1/moderation-actions?filter[action_state]=confirmed&page[number]={third}"
    ),
    "requests by an account": "/api/public/v1/requests?filter[requested_by]=bulk&page[number]={deep}",
    "requests by nobody": "/api/public/v1/requests?filter[requested_by]=nobody",
    "requests by nobody of a status": (
        "/api/public/v1/requests?filter[requested_by]=nobody&filter[status]=COMPLETED"
    ),
    "requests of no dataset": "/api/public/v1/requests?filter[dataset_name]=none",
    "actions of a tier": "/api/public/v1/moderation-actions?filter[action_tier]=tier_2_consensus",
    "actions of a tier and a state": (
        "/api/public/v1/moderation-actions?filter[action_tier]=tier_1_immediate&filter[action_state]=dismissed"
    ),
    "notes of no message": "/api/public/v1/notes?filter[platform_message_id]=none",
    "notes by nobody": "/api/public/v1/notes?filter[author_id]=nobody",
    "notes of a rater who was not drawn": "/api/public/v1/notes?filter[drawn_rater_id]=nobody",
    "notes, deep": "/api/public/v1/notes?page[size]=100&page[number]={third}",
    "scoring analysis": "/api/v2/community-servers/{community}/scoring-analysis",
    "metrics": "/metrics",
}


@pytest.mark.both_databases
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_pages_read_as_little_of_many_rows_as_of_few(app: Flask, wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"moderator_figures": True}
        account = session.get_one(Account, cast.moderator.account_id)
        token = sessions.begin(session, account, "test")
        admin = session.get_one(Account, cast.admin.account_id)
        operator = sessions.begin(session, admin, "test")
    recorder = Recorder(wiring.database.engine)
    now = clock.now()
    # Each minute of a session its last use is written, which is a statement more for the page that comes then.
    clocks.at(now)
    found: dict[str, list[int]] = {}
    webhook_id = _webhook(wiring, cast)

    def check(name: str, statements: list[tuple[str, Any]]) -> None:
        if last == POSTS:
            blocks, worst = counted_blocks(recorder.engine, statements)
            assert blocks <= OTHERS.get(name, MOST_BLOCKS), (
                f"{name} reads {blocks} blocks, most of them for\n{worst}"
            )
        found.setdefault(name, []).append(len(statements))

    for first, last in ((1, 300), (301, POSTS)):
        _fill(wiring, cast, first, last, now, webhook_id)
        with wiring.database.writing() as session:
            # The posts were written with entries of the past, of which the hourly job would not hear.
            for model in (InsightSlot, InsightOutcome, InsightGroup, Rollup):
                session.execute(sa.delete(model))
        roll_up(wiring.database)
        with wiring.database.engine.connect().execution_options(
            isolation_level="AUTOCOMMIT", writing=True
        ) as connection:
            # VACUUM marks no page as visible to all before the commits are on the disk, and the tests' server writes
            # them later. Then no index would be read alone.
            connection.exec_driver_sql("SET synchronous_commit = on")
            connection.exec_driver_sql("CHECKPOINT")
            connection.exec_driver_sql("VACUUM ANALYZE")
        item = _open_item(wiring, cast)
        for name, path in (PAGES | SEARCHES | CALLS).items():
            client = app.test_client()
            client.set_cookie("bridgenote", operator if name in OPERATORS else token)
            where = path.format(
                week=f"{now:%Y-%m-%d}",
                item=item,
                webhook=webhook_id,
                deep=2 if last < POSTS else 90,
                third=2 if last < POSTS else 30,
                community=cast.community_id,
            )
            headers = cast.headers if name in CALLS else {}
            if name == "metrics":
                wiring.last_totals.by_communities.clear()
                headers = {"Authorization": f"Bearer {cast.metrics_key}"}
            with recorder.recording() as sent:
                assert client.get(where, headers=headers).status_code == 200, name
                statements = list(sent)
            check(name, statements)
    # Only with many: few posts lie further back than a preview looks.
    with recorder.recording() as sent, wiring.database.reading() as session:
        drafts = [CategoryDraft("spam", 0.45, 0.75), CategoryDraft("toxicity", 0.55)]
        made = previews.preview(session, SYSTEM, cast.community_id, drafts)
        statements = list(sent)
    assert made.periods[-1].after.acted
    check("what-if", statements)
    grown = {
        name: counts for name, counts in found.items() if name not in SEARCHES and counts[-1] > counts[0]
    }
    assert grown == {}


def _open_item(wiring: Wiring, cast: Cast) -> object:
    with wiring.database.reading() as session:
        return session.scalars(
            sa.select(Action.id)
            .where(Action.community_id == cast.community_id, Action.action_state == "under_review")
            .limit(1)
        ).one()


def _webhook(wiring: Wiring, cast: Cast) -> uuid.UUID:
    with wiring.database.writing() as session:
        webhook = Webhook(community_id=cast.community_id, url="https://forum.example/hook", secret=b"sealed")
        session.add(webhook)
        # As many as a community may have; nothing is sent to the others.
        for number in range(1, limits.WEBHOOKS.number):
            url = f"https://forum.example/hook-{number}"
            session.add(Webhook(community_id=cast.community_id, url=url, secret=b"sealed"))
        session.flush()
        return webhook.id


def _entry(name: str) -> str:
    """SQL of what ``post_scores`` has of one category: two numbers of two bytes, the low one first."""
    parts = f"CASE WHEN acted AND category = '{name}' THEN 6000 + n % 40 * 100 ELSE 1000 END"
    number = f"set_byte(set_byte('\\x0000'::bytea, 0, ({parts}) % 256), 1, ({parts}) / 256)"
    return f"{number} || {number}"


def _fill(wiring: Wiring, cast: Cast, first: int, last: int, now: datetime, webhook_id: uuid.UUID) -> None:
    """Posts with these numbers, every third with an action, its note, three ratings, and their history.

    Each also with an event that the webhook got, the last of them a few seconds apart.
    """
    posts = f"""(
        SELECT n, n % 3 = 0 AS acted, n % 93 = 0 AS waits,
            timestamptz '{now.isoformat()}' - make_interval(secs => ({POSTS} - n) * 450.0) AS moment,
            CASE WHEN n % 5 = 0 THEN '{cast.other_community_id}' ELSE '{cast.community_id}' END::uuid AS home,
            CASE WHEN n % 3003 = 0 THEN 'rare' WHEN n % 2 = 0 THEN 'spam' ELSE 'toxicity' END AS category,
            'author-' || n % 500 AS author, CASE WHEN n % 7 = 0 THEN 'de' ELSE 'en' END AS language
        FROM generate_series({first}, {last}) AS n
    ) AS post"""  # noqa: S608 - our own words
    stamps = {"created_at": "moment", "updated_at": "moment"}
    with wiring.database.engine.connect().execution_options(writing=True) as connection:
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        bulk.insert(
            connection,
            Request,
            posts,
            **stamps,
            id="md5('post' || n)::uuid",
            community_id="home",
            request_id="'bulk-' || n",
            requested_by="'bulk'",
            status="CASE WHEN acted AND waits THEN 'IN_PROGRESS' ELSE 'COMPLETED' END",
            content="'A post about harbours, ferries, ropes, and the number ' || n || repeat(' more words', n % 20)",
            content_sha256="md5('content' || n)",
            platform_author_id="author",
            platform_channel_id="'channel-' || n % 40",
            language="language",
            requested_at="moment",
            scored_at="moment",
            completed_at="CASE WHEN acted AND waits THEN NULL ELSE moment END",
        )
        acted = f"(SELECT * FROM {posts} WHERE acted) AS post"  # noqa: S608 - the same
        bulk.insert(
            connection,
            Note,
            acted,
            **stamps,
            id="md5('note' || n)::uuid",
            community_id="home",
            request_id="md5('post' || n)::uuid",
            author_id=f"'{cast.operator.profile_id}'::uuid",
            author_ref="'bridgenote'",
            summary="'This looks like ' || category",
            classification="'MISINFORMED_OR_POTENTIALLY_MISLEADING'",
            status="CASE WHEN waits THEN 'NEEDS_MORE_RATINGS' ELSE 'CURRENTLY_RATED_HELPFUL' END",
            rationale="true",
            ratings_count="3",
        )
        bulk.insert(
            connection,
            Action,
            acted,
            **stamps,
            id="md5('action' || n)::uuid",
            community_id="home",
            request_id="md5('post' || n)::uuid",
            action_type="'hide'",
            action_tier="CASE WHEN n % 4 = 0 AND NOT waits THEN 'tier_1_immediate' ELSE 'tier_2_consensus' END",
            action_state="""CASE WHEN waits THEN 'under_review' WHEN n % 4 = 0 THEN 'applied'
                WHEN n % 2 = 0 THEN 'confirmed' ELSE 'dismissed' END""",
            review_group="'community'",
            category="category",
            score="0.7",
            decided_verb="'hide'",
            note_id="md5('note' || n)::uuid",
            proposed_at="CASE WHEN waits THEN NULL ELSE moment END",
        )
        decided = f"(SELECT * FROM {posts} WHERE acted AND NOT waits) AS post"  # noqa: S608 - the same
        bulk.insert(
            connection,
            Decision,
            decided,
            id="md5('decision' || n)::uuid",
            community_id="home",
            request_id="md5('post' || n)::uuid",
            action_id="md5('action' || n)::uuid",
            decision="'hide'",
            tier="2",
            confidence="0.7",
            decided_at="moment + interval '1 second'",
        )
        bulk.insert(
            connection,
            Score,
            f"{posts} CROSS JOIN (VALUES ('spam'), ('toxicity')) AS scored (name)",
            id="md5('score' || n || name)::uuid",
            community_id="home",
            request_id="md5('post' || n)::uuid",
            category="name",
            classifier="'rules'",
            classifier_version="'1'",
            score="CASE WHEN acted AND name = category THEN 0.6 + n % 40 / 100.0 ELSE 0.1 END",
            tier1_capable="true",
            is_highest="true",
            created_at="moment",
        )
        bulk.insert(
            connection,
            PostScores,
            posts,
            request_id="md5('post' || n)::uuid",
            community_id="home",
            scored_at="moment",
            categories="'spam toxicity'",
            scores=" || ".join(_entry(name) for name in ("spam", "toxicity")),
        )
        bulk.insert(
            connection,
            Rating,
            f"{acted} CROSS JOIN generate_series(1, 3) AS r",
            **stamps,
            id="md5('rating' || n || '-' || r)::uuid",
            community_id="home",
            note_id="md5('note' || n)::uuid",
            rater_id="md5('rater' || (n + r) % 400)::uuid",
            rater_ref="'rater'",
            helpfulness_level="'HELPFUL'",
        )
        entries = (
            f"{posts} CROSS JOIN (VALUES (1, 'request.completed'), (2, 'action.under_review'),"
            " (3, 'action.proposed'), (4, 'action.dismissed')) AS step (s, what)"
            " WHERE (s = 1 OR acted AND (s = 2 OR NOT waits))"
        )
        for community_id in (cast.community_id, cast.other_community_id):
            highest = connection.scalar(
                sa.select(sa.func.max(HistoryEntry.number)).where(HistoryEntry.community_id == community_id)
            )
            bulk.insert(
                connection,
                HistoryEntry,
                f"{entries} AND home = '{community_id}'",
                id="md5('entry' || n || '-' || s)::uuid",
                community_id="home",
                number=f"{highest} + row_number() OVER (ORDER BY n, s)",
                at="moment",
                actor_kind="CASE WHEN s > 2 THEN 'account' ELSE 'system' END",
                account_id=f"CASE WHEN s > 2 THEN '{cast.moderator.account_id}'::uuid END",
                what="what",
                object_type="CASE WHEN s = 1 THEN 'request' ELSE 'action' END",
                object_id="md5(CASE WHEN s = 1 THEN 'post' ELSE 'action' END || n)::uuid",
                after="json_build_object('action_state', split_part(what, '.', 2))",
                text_hash="md5('text' || n)",
                previous_hash="md5('previous' || n)",
                hash="md5('hash' || n)",
                action_type="CASE WHEN s > 1 THEN 'hide' END",
                category="CASE WHEN s > 1 THEN category END",
                author="CASE WHEN s > 1 THEN author END",
                language="CASE WHEN s > 1 THEN language END",
            )
        bulk.insert(
            connection,
            HistoryText,
            entries,
            entry_id="md5('entry' || n || '-' || s)::uuid",
            salt="'salt'",
            actor_name="CASE WHEN s > 2 THEN 'Moderator' ELSE 'Bridgenote' END",
            reason="CASE WHEN s > 2 THEN 'Because of ' || n ELSE '' END",
        )
        told = (
            f"{posts} CROSS JOIN LATERAL (SELECT timestamptz '{now.isoformat()}'"
            f" - make_interval(secs => ({POSTS} - n) * 20.0) AS sent, n % 100 = 0 AS failed,"
            " CASE WHEN n % 6007 = 0 THEN 'webhook.test' WHEN n % 3 = 0 THEN 'note.status_changed'"
            " ELSE 'moderation.decision' END AS event) AS delivery"
        )
        bulk.insert(
            connection,
            Event,
            told,
            id="md5('event' || n)::uuid",
            community_id=f"'{cast.community_id}'::uuid",
            name="event",
            payload="'{}'",
            created_at="sent",
        )
        bulk.insert(
            connection,
            Delivery,
            told,
            id="md5('delivery' || n)::uuid",
            event_id="md5('event' || n)::uuid",
            event_name="event",
            endpoint_id=f"'{webhook_id}'::uuid",
            community_id=f"'{cast.community_id}'::uuid",
            state="CASE WHEN failed THEN 'dead' ELSE 'delivered' END",
            attempts_made="1",
            created_at="sent",
            updated_at="sent",
        )
        bulk.insert(
            connection,
            Attempt,
            told,
            id="md5('attempt' || n)::uuid",
            delivery_id="md5('delivery' || n)::uuid",
            endpoint_id=f"'{webhook_id}'::uuid",
            at="sent",
            status="CASE WHEN failed THEN 500 ELSE 200 END",
            milliseconds="n % 400",
        )
        # Else how the rows are counted depends on the statistics that the tests before left of these tables.
        connection.exec_driver_sql("ANALYZE")
        bulk.rater_days(connection)
        connection.commit()
