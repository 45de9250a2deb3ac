"""Webhooks in the dashboard: how each is doing, the API's verbs, and secrets that are shown once."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock, limits
from app.core.mail import Message
from app.core.models import Delivery, HistoryEntry, HistoryText, Webhook
from app.core.vocabulary import DeliveryState
from app.core.webhooks import signing
from app.core.webhooks.health import Figures
from app.throttle import Throttle
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Visitor
from tests.web.hooks import GONE, MISSING, OK, SECRET, URL, Hooks

Visit = Callable[[Person | None], Visitor]
NEW = {"url": "https://forum.example.org/new", "how": "generate", "all_events": "y"}


@pytest.fixture
def hooks(wiring: Wiring, cast: Cast) -> Hooks:
    return Hooks(wiring, cast.community_id)


def shown_secret(page: str) -> str | None:
    found = re.search(r'<code class="secret"[^>]*>([^<]+)</code>', page)
    return found.group(1) if found else None


def live_secrets(wiring: Wiring) -> list[str]:
    with wiring.database.reading() as session:
        webhook = session.scalars(sa.select(Webhook)).one()
        return signing.live_secrets(session, webhook, wiring.sealer, clock.now())


def recorded(wiring: Wiring) -> str:
    """Everything that history holds, as text."""
    with wiring.database.reading() as session:
        rows = session.execute(sa.select(HistoryEntry, HistoryText).join(HistoryText)).all()
        return " ".join(f"{entry.before} {entry.after} {entry.cause} {text.reason}" for entry, text in rows)


def etag(page: str) -> str:
    return page.split('name="etag" type="hidden" value="')[1].split('"')[0]


def test_only_operators_and_above_open_webhooks_and_deliveries(
    visit: Visit, cast: Cast, hooks: Hooks
) -> None:
    webhook_id = hooks.register()
    (delivery_id,) = hooks.tell(webhook_id)
    lists = ("/endpoints", "/deliveries", "/deliveries/replay")
    objects = (
        f"/endpoints/{webhook_id}",
        f"/deliveries/{delivery_id}",
        f"/deliveries/{delivery_id}/attempts",
    )
    for who, allowed, foreign in (
        (cast.rater, 403, 403),
        (cast.moderator, 403, 403),
        (cast.outsider, 403, 404),
        (cast.operator, 200, 200),
        (cast.admin, 200, 200),
    ):
        visitor = visit(who)
        for path in lists:
            assert visitor.get(path).status_code == allowed, (path, who)
        for path in objects:
            assert visitor.get(path, **HTMX).status_code == foreign, (path, who)
    moderator, outsider = visit(cast.moderator), visit(cast.outsider)
    for verb in ("enable", "disable", "rotate", "test", "remove"):
        path = f"/endpoints/{webhook_id}/{verb}"
        data = {"how": "generate", "etag": ""}
        assert (moderator.post(path, **data).status_code, outsider.post(path, **data).status_code) == (
            403,
            404,
        )
    assert hooks.webhook(webhook_id).is_active


def test_the_old_secret_can_be_ended_at_once_while_it_signs(
    visit: Visit, cast: Cast, wiring: Wiring, hooks: Hooks
) -> None:
    operator, path = visit(cast.operator), f"/endpoints/{hooks.register()}"
    assert "End the old secret now" not in operator.get(path).text
    form = {"how": "typed", "secret": "the second secret", "etag": etag(operator.get(path).text)}
    assert operator.post(f"{path}/rotate", **form).status_code == 303
    assert "End the old secret now" in operator.get(path).text
    assert live_secrets(wiring) == ["the second secret", SECRET]
    assert operator.post(f"{path}/end-secret").status_code == 303
    assert live_secrets(wiring) == ["the second secret"]
    assert "End the old secret now" not in operator.get(path).text


def test_the_form_of_a_rotation_says_what_a_receiver_must_do_before_and_after(
    visit: Visit, cast: Cast, hooks: Hooks
) -> None:
    operator, path = visit(cast.operator), f"/endpoints/{hooks.register()}"
    page = operator.get(path).text
    form = page.split(f'action="{path}/rotate"')[1].split("</form>")[0]
    before_the_secret = form[: form.index('name="how"')]
    steps = re.findall(r"<p>(.*?)</p>", before_the_secret, re.DOTALL)
    words = ("First make your receiver accept", "Then rotate.", "Give the receiver the new secret within")
    assert len(steps) == len(words)
    for step, begin in zip(steps, words, strict=True):
        assert step.startswith(begin)
    operator.post(f"{path}/rotate", how="typed", secret="the second secret", etag=etag(page))
    assert "Give it to the receiver within 24 hours." in operator.get(path).text


def test_a_secret_that_no_receiver_could_read_is_refused_in_words(visit: Visit, cast: Cast) -> None:
    operator = visit(cast.operator)
    for secret, words in (
        ("v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "must begin with whsec_; leave out “v1,”"),
        ("whsec_c2hvcnQ=", "must be base64 of at least 24 bytes after whsec_; these are 5"),
    ):
        answer = operator.post("/endpoints", **NEW | {"how": "typed", "secret": secret})
        assert answer.status_code == 422
        assert words in answer.text
        assert secret not in answer.text


def test_one_webhook_too_many_is_refused_beside_its_url(
    visit: Visit, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "WEBHOOKS", limits.WEBHOOKS._replace(number=1))
    operator = visit(cast.operator)
    assert operator.post("/endpoints", **NEW).status_code == 200
    second = operator.post("/endpoints", **NEW | {"url": "https://forum.example.org/second"})
    assert second.status_code == 422
    assert "URL cannot be added: a community has at most 1 webhooks; remove one first." in second.text


def test_a_secret_is_shown_once_and_a_form_sent_twice_shows_and_changes_nothing(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    made = operator.post("/endpoints", **NEW)
    assert made.status_code == 200
    assert made.headers["Cache-Control"] == "no-store"
    first = shown_secret(made.text)
    assert first is not None
    assert live_secrets(wiring) == [first]

    again = operator.post("/endpoints", **NEW)
    assert again.status_code == 422
    assert "URL is registered already" in again.text
    assert live_secrets(wiring) == [first]
    with wiring.database.reading() as session:
        path = f"/endpoints/{session.scalars(sa.select(Webhook.id)).one()}"
    page = operator.get(path).text
    for one in (again.text, page, operator.get("/endpoints").text):
        assert first not in one

    form = {"how": "generate", "etag": etag(page)}
    rotated = operator.post(f"{path}/rotate", **form)
    second = shown_secret(rotated.text)
    assert second is not None
    assert rotated.headers["Cache-Control"] == "no-store"
    assert "The secret before this one also signs each delivery until" in rotated.text
    refreshed = operator.post(f"{path}/rotate", **form)
    assert refreshed.status_code == 409
    assert shown_secret(refreshed.text) is None
    assert live_secrets(wiring) == [second, first]

    short = operator.post(f"{path}/rotate", how="typed", secret="short", etag=etag(refreshed.text))
    assert short.status_code == 422
    assert "Your secret must have 8 to 500 characters." in short.text
    assert "short" not in short.text.replace("shortcuts", "")
    own = operator.post(f"{path}/rotate", how="typed", secret=SECRET, etag=etag(refreshed.text))
    assert own.status_code == 303
    assert live_secrets(wiring) == [SECRET, second, first]
    page = operator.get(path).text
    told = recorded(wiring)
    for secret in (first, second, SECRET):
        assert secret not in page + told


def test_a_webhook_is_changed_disabled_enabled_and_removed_by_the_apis_own_verbs(
    visit: Visit, cast: Cast, wiring: Wiring, hooks: Hooks
) -> None:
    operator = visit(cast.operator)
    webhook_id = hooks.register()
    hooks.register("https://forum.example.org/other")
    path = f"/endpoints/{webhook_id}"
    wrong = operator.post(path, url="http://forum.example.org/plain", all_events="y")
    assert wrong.status_code == 422
    assert "URL must start with https://." in wrong.text
    assert "http://forum.example.org/plain" in wrong.text
    assert "Tick at least one event" in operator.post(path, url=URL).text
    taken = operator.post(path, url="https://forum.example.org/other", all_events="y")
    assert taken.status_code == 409
    assert "already has this URL" in taken.text
    chosen = ["moderation.decision", "note.status_changed"]
    assert operator.post(path, url=URL, events=chosen, reason="Too chatty").status_code == 303
    assert hooks.webhook(webhook_id).events == chosen

    (delivery_id,) = hooks.tell(webhook_id)
    operator.post(f"{path}/disable")
    assert "Disabled by hand." in operator.get("/endpoints").text
    assert hooks.attempt(OK) == []
    assert "When the webhook is enabled" in operator.get(f"/deliveries/{delivery_id}").text
    refused = operator.post(f"{path}/test")
    assert refused.status_code == 303
    assert "enable it first" in operator.get(path).text
    operator.post(f"{path}/enable")
    assert hooks.attempt(OK) == [delivery_id]

    (waiting,) = hooks.tell(webhook_id)
    assert operator.post(f"{path}/remove", reason="Moved away").status_code == 303
    assert operator.get(path).status_code == 404
    assert hooks.states([delivery_id, waiting]) == [DeliveryState.DELIVERED, DeliveryState.CANCELLED]
    assert "removed" in operator.get(f"/deliveries/{delivery_id}").text
    with wiring.database.reading() as session:
        told = session.scalars(sa.select(HistoryEntry.what).order_by(HistoryEntry.number)).all()
    assert told[-4:] == ["webhook.changed", "webhook.changed", "webhook.changed", "webhook.removed"]
    whole = operator.get("/history/settings?area=webhooks").text
    assert ("Too chatty" in whole, "Moved away" in whole) == (True, True)


def test_a_form_that_comes_back_keeps_what_its_hidden_fields_held_and_asks_for_no_secret_it_does_not_need(
    visit: Visit, cast: Cast
) -> None:
    operator = visit(cast.operator)
    kept = operator.post(
        "/endpoints", url="", how="generate", secret="x", all_events="y", events="note.status_changed"
    )
    assert kept.status_code == 422
    assert "Your secret must" not in kept.text
    assert re.search(r'<input checked [^>]*value="note.status_changed"', kept.text)
    assert "Enter it again" not in kept.text
    assert "Enter it again" in operator.post("/endpoints", url="", how="typed", secret=SECRET).text


def version(page: str) -> str:
    return page.split('name="version" type="hidden" value="')[1].split('"')[0]


def test_of_two_who_save_at_once_the_second_hears_what_the_first_set_and_loses_nothing(
    visit: Visit, cast: Cast, hooks: Hooks
) -> None:
    operator, admin = visit(cast.operator), visit(cast.admin)
    webhook_id = hooks.register()
    path = f"/endpoints/{webhook_id}"
    seen = version(operator.get(path).text)
    decisions = {"url": URL, "events": "moderation.decision", "version": seen}
    assert admin.post(path, **decisions).status_code == 303
    mine = {"url": "https://forum.example.org/moved", "all_events": "y", "reason": "We moved"}
    stale = operator.post(path, **mine, version=seen)
    assert stale.status_code == 409
    assert "Other values were saved meanwhile (Admin, just now)." in stale.text
    assert f"The URL is {URL} now. The events are now: Decision about a post." in stale.text
    for kept in ("https://forum.example.org/moved", "We moved"):
        assert f'value="{kept}"' in stale.text
    assert hooks.webhook(webhook_id).events == ["moderation.decision"]
    # Saving again is a decision about what was just shown, and about nothing newer.
    again = version(stale.text)
    assert operator.post(path, **mine, version=seen).status_code == 409
    assert operator.post(path, **mine, version=again).status_code == 303
    assert hooks.webhook(webhook_id).url == "https://forum.example.org/moved"
    assert admin.post(path, **decisions | {"version": again}).status_code == 409


def test_a_reason_for_enabling_stands_in_the_history_of_settings(
    visit: Visit, cast: Cast, hooks: Hooks
) -> None:
    operator = visit(cast.operator)
    path = f"/endpoints/{hooks.register()}"
    operator.post(f"{path}/disable", reason="The forum is being moved")
    assert operator.post(f"{path}/enable", reason="x" * 5_001).status_code == 422
    operator.post(f"{path}/enable", reason="The forum is back")
    told = operator.get("/history/settings?area=webhooks").text
    assert "The forum is being moved" in told
    assert "The forum is back" in told


def test_test_events_to_one_webhook_are_limited_and_the_page_says_for_how_long(
    visit: Visit, cast: Cast, hooks: Hooks, wiring: Wiring
) -> None:
    limits = {"rate_limit_enabled": True, "rate_limit_webhook_tests": "2 per hour"}
    wiring.throttle = Throttle.from_settings(wiring.settings.model_copy(update=limits))
    operator, other = visit(cast.operator), visit(cast.admin)
    webhook_id, second = hooks.register(), hooks.register("https://forum.example.org/second")
    path = f"/endpoints/{webhook_id}/test"
    assert visit(cast.outsider).post(path).status_code == 404
    assert [visitor.post(path).status_code for visitor in (operator, other, operator)] == [303, 303, 429]
    refused = operator.post(path)
    assert re.search(
        r"Too many test events were sent to this webhook\. Try again in \d+ seconds\.", refused.text
    )
    assert int(refused.headers["Retry-After"]) >= 1
    assert operator.post(f"/endpoints/{second}/test").status_code == 303


def test_a_test_events_result_is_followed_until_it_arrived(
    visit: Visit, cast: Cast, hooks: Hooks, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    sent = operator.post(f"/endpoints/{hooks.register()}/test")
    assert sent.status_code == 303
    page = operator.get(sent.location).text
    assert "Waiting to be sent" in page
    poll = page.split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
    assert operator.get(poll, **HTMX).status_code == 204
    hooks.attempt(OK)
    part = operator.get(poll, **HTMX).text
    assert "Delivered: answered 200 in 40 ms." in part
    assert "hx-get" not in part
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Delivery.state)).one() is DeliveryState.DELIVERED


def test_health_at_a_glance_costs_the_same_for_three_webhooks_as_for_one(
    visit: Visit, cast: Cast, hooks: Hooks, statements: Callable[[], Any]
) -> None:
    operator = visit(cast.operator)
    webhook_id = hooks.register()
    hooks.tell(webhook_id, 4)
    hooks.attempt(OK, OK, MISSING, OK)
    operator.get("/endpoints")
    with statements() as few:
        page = operator.get("/endpoints").text
    assert "75\u00a0%" in page
    assert "p95 120 ms" in page
    assert re.search(r"<dt>Failed</dt><dd><a [^>]*>1</a>", page)
    assert "answered 404" in page
    assert "not-for-eyes" not in page
    for number in range(2):
        other = hooks.register(f"https://forum.example.org/{number}")
        hooks.tell(other)
    hooks.attempt(MISSING)
    with statements() as many:
        operator.get("/endpoints")
    assert len(many) == len(few)


@pytest.mark.both_databases
def test_a_busy_webhook_is_judged_by_its_newest_attempts(
    visit: Visit, cast: Cast, hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = visit(cast.operator)
    webhook_id = hooks.register()
    hooks.tell(webhook_id, 3)
    hooks.attempt(MISSING)
    page = operator.get("/endpoints").text
    assert page.count("<dd>0\u00a0%<small>3 attempts</small>") == 2
    monkeypatch.setattr(Figures, "MOST_ATTEMPTS", 4)
    monkeypatch.setattr(Figures, "MOST_QUEUED", 2)
    assert "2+ failed. Show them" in operator.get("/endpoints").text
    hooks.tell(webhook_id, 3)
    hooks.attempt(OK)
    page = operator.get(f"/endpoints/{webhook_id}").text
    assert page.count("<dd>75\u00a0%<small>of the newest 4 attempts</small>") == 2
    assert "answered 404" in page
    hooks.tell(webhook_id)
    hooks.attempt(OK)
    assert "None of the newest 4 attempts" in operator.get("/endpoints").text


@dataclass
class Postbox:
    """Stands in for a mail server: keeps what it was handed."""

    sent: list[Message] = field(default_factory=list)

    def send(self, message: Message, deadline: float) -> None:
        self.sent.append(message)


def test_operators_are_told_when_a_webhook_is_disabled_by_itself(
    visit: Visit, cast: Cast, hooks: Hooks, wiring: Wiring, jobs: InlineEngine
) -> None:
    wiring.mailer = postbox = Postbox()
    webhook_id = hooks.register()
    hooks.tell(webhook_id, 3)
    hooks.attempt(GONE)
    assert not hooks.webhook(webhook_id).is_active
    jobs.run_all()
    assert {one.to for one in postbox.sent} == {cast.operator.email, cast.admin.email}
    assert all("/notices" in one.text and "not-for-eyes" not in one.text for one in postbox.sent)
    for who in (cast.operator, cast.admin):
        page = visit(who).get("/notices").text
        assert "1 notice" in page
        assert "forum.example.org/hook" in page
        assert "not-for-eyes" not in page
        assert f'href="/endpoints/{webhook_id}"' in page
        assert re.search(r'<b>3<span class="vh"> failed or parked</span>', page)
        assert re.search(r'<b>1<span class="vh"> disabled</span>', page)
    page = visit(cast.moderator).get("/notices").text
    assert "forum.example.org" not in page
    assert 'class="vh"> failed or' not in page
    assert "gone (410)" in visit(cast.operator).get(f"/endpoints/{webhook_id}").text
