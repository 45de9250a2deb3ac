"""Services are added, changed and switched by operators; everything is in the history and the key nowhere."""

import uuid
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from app.commands.doctor import work
from app.commands.doctor.findings import State
from app.core.classify import Permanent
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.models import ConnectedService, HistoryEntry, HistoryText, ServiceVersion
from app.core.outbound import AllowList
from app.core.permissions import Actor
from app.core.services import calls, reading, services
from app.core.services.calls import Call
from app.core.services.services import Registry
from app.core.services.settings import ServiceSettings
from app.core.thresholds import threshold_sets
from app.core.vocabulary import Role, ServiceMode
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast

KEY = "sk-very-secret-key"
SETTINGS = ServiceSettings(url="http://127.0.0.1:9/score", categories={"toxicity": "toxicity", "odd": None})


@pytest.fixture
def registry(wiring: Wiring) -> Registry:
    wiring.services.allow = AllowList.parse("127.0.0.1")
    return Registry(wiring.services.kinds, wiring.sealer, wiring.services.allow)


def operator(cast: Cast, role: Role = Role.OPERATOR) -> Actor:
    return factories.member(cast, role, "Olga", account_id=cast.operator.account_id)


def added(wiring: Wiring, cast: Cast, registry: Registry, **changes: Any) -> uuid.UUID:
    given: dict[str, Any] = {"name": "own", "reason": "Try it", "key": KEY, "consent": True} | changes
    name, reason = given.pop("name"), given.pop("reason")
    settings, kind = given.pop("settings", SETTINGS), given.pop("kind", "http")
    with wiring.database.writing() as session:
        return services.add(
            session, operator(cast), cast.community_id, registry, kind, name, settings, reason, **given
        ).id


def test_a_service_is_observed_first_and_its_key_is_sealed_and_nowhere_else(
    wiring: Wiring, cast: Cast, registry: Registry
) -> None:
    service_id = added(wiring, cast, registry)
    with wiring.database.reading() as session:
        service = session.get_one(ConnectedService, service_id)
        assert (service.mode, service.version) == (ServiceMode.OBSERVE, 1)
        assert service.key is not None
        assert KEY.encode() not in service.key
        assert wiring.sealer.open(service.key, str(service_id)) == KEY
        assert service.consents["127.0.0.1:9"]["account_id"] == str(cast.operator.account_id)
        entry = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "service.added")).one()
        assert entry.account_id == cast.operator.account_id
        assert entry.after["posts_are_sent_to"] == "127.0.0.1:9"
        texts = session.scalars(sa.select(HistoryText).where(HistoryText.entry_id == entry.id)).one()
        assert (texts.actor_name, texts.reason) == ("Olga", "Try it")
        assert KEY not in f"{entry.after}{session.scalars(sa.select(ServiceVersion)).one().settings}"


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"consent": False}, "consent"),
    ({"name": "Own!"}, "name"),
    ({"name": ""}, "name"),
    ({"reason": " "}, "reason"),
    ({"kind": "magic"}, "kind"),
    ({"kind": "openai_moderation", "key": ""}, "key"),
    ({"key": "two words"}, "key"),
    ({"settings": replace(SETTINGS, url="http://10.0.0.1/")}, "url"),
    ({"settings": replace(SETTINGS, url="https://example.org/?key=1")}, "url"),
    ({"settings": replace(SETTINGS, url="file:///etc/passwd")}, "url"),
    ({"settings": replace(SETTINGS, categories={"odd": None})}, "categories"),
    ({"settings": replace(SETTINGS, categories={"odd": "No such name"})}, "categories"),
    ({"settings": replace(SETTINGS, deadline=0.0)}, "deadline"),
    ({"settings": replace(SETTINGS, deadline=float("nan"))}, "deadline"),
    ({"settings": replace(SETTINGS, concurrency=0)}, "concurrency"),
    ({"settings": replace(SETTINGS, daily_requests=-1)}, "daily_requests"),
    ({"settings": replace(SETTINGS, daily_cost=1.0)}, "daily_cost"),
    ({"settings": replace(SETTINGS, price=float("inf"))}, "price"),
    ({"settings": replace(SETTINGS, options={"parser": "x"})}, "parser"),
    ({"kind": "chat_guard"}, "model"),
    (
        {"kind": "chat_guard", "settings": replace(SETTINGS, model="m", options={"parser": "magic"})},
        "parser",
    ),
    (
        {"kind": "chat_guard", "settings": replace(SETTINGS, model="m", options={"parser": "json"})},
        "policy",
    ),
]


def _refusal(wiring: Wiring, cast: Cast, registry: Registry, changes: dict[str, Any]) -> Invalid | None:
    try:
        added(wiring, cast, registry, **changes)
    except Invalid as error:
        return error
    return None


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_what_cannot_work_is_refused_at_its_field(wiring: Wiring, cast: Cast, registry: Registry) -> None:
    for changes, field in MISTAKES:
        refusal = _refusal(wiring, cast, registry, changes)
        assert refusal is not None, changes
        assert field in {str(problem.loc[0]) for problem in refusal.problems}, changes
        assert KEY not in str(refusal), changes


def test_names_are_unique_until_a_service_is_removed(wiring: Wiring, cast: Cast, registry: Registry) -> None:
    first = added(wiring, cast, registry)
    with pytest.raises(Invalid, match="taken"):
        added(wiring, cast, registry)
    with wiring.database.writing() as session:
        removed = services.remove(session, operator(cast), first, "Too slow")
        assert (removed.key, removed.mode) == (None, ServiceMode.OFF)
    second = added(wiring, cast, registry)
    with wiring.database.writing() as session, pytest.raises(NotFound):
        services.set_mode(session, operator(cast), first, ServiceMode.IN_FORCE, "Again")
    assert first != second


def test_changed_settings_wait_while_the_service_counts(
    wiring: Wiring, cast: Cast, registry: Registry
) -> None:
    service_id = added(wiring, cast, registry)
    faster, slower = replace(SETTINGS, deadline=1.0), replace(SETTINGS, deadline=9.0)
    with wiring.database.writing() as session:
        services.change(session, operator(cast), service_id, registry, faster, "Faster")
        service = reading.find(session, operator(cast), service_id)
        assert service.version == 2  # observed: nothing counts, so it is used at once
        services.set_mode(session, operator(cast), service_id, ServiceMode.IN_FORCE, "It agrees")
        etag = service.etag
        services.change(session, operator(cast), service_id, registry, slower, "Slower", etag=etag)
        assert (service.version, reading.newest(session, service).version) == (2, 3)
        with pytest.raises(Conflict, match="Olga, just now"):
            services.put_in_force(session, operator(cast), service_id, 3, "Late", etag=etag)
        with pytest.raises(Invalid, match="same as before"):
            services.change(session, operator(cast), service_id, registry, slower, "Again")
    (classifier,) = _classifiers(wiring, cast)
    assert (classifier.version, classifier.settings.deadline) == ("2", 1.0)
    with wiring.database.writing() as session:
        services.put_in_force(session, operator(cast), service_id, 3, "Tried")
    assert _classifiers(wiring, cast)[0].version == "3"
    with wiring.database.reading() as session:
        service = reading.find(session, operator(cast), service_id)
        made = reading.versions(session, service)
        assert [version.version for version, _ in made] == [3, 2, 1]
        assert {name for _, name in made} == {"Operator"}


def test_a_service_that_counts_again_keeps_what_happens_when_it_fails(
    wiring: Wiring, cast: Cast, registry: Registry
) -> None:
    service_id = added(wiring, cast, registry)

    def required(**given: str) -> set[tuple[str, str]]:
        with wiring.database.writing() as session:
            for mode in (ServiceMode.OBSERVE, ServiceMode.IN_FORCE):
                services.set_mode(session, operator(cast), service_id, mode, "Tried", **given)
            found = threshold_sets.current(session, cast.community_id).categories
            return {(one.name, one.on_error) for one in found if one.requires}

    assert required() == set()
    routed = set(SETTINGS.routed)
    assert routed
    assert required(if_it_fails="review") == {(name, "review") for name in routed}
    assert required() == {(name, "review") for name in routed}
    assert required(if_it_fails="") == set()


def test_another_host_needs_another_consent(wiring: Wiring, cast: Cast, registry: Registry) -> None:
    service_id = added(wiring, cast, registry)
    elsewhere = replace(SETTINGS, url="https://models.example.org/score")
    with wiring.database.writing() as session:
        with pytest.raises(Invalid, match="consent"):
            services.change(session, operator(cast), service_id, registry, elsewhere, "Moved")
        services.change(session, operator(cast), service_id, registry, elsewhere, "Moved", consent=True)
        service = reading.find(session, operator(cast), service_id)
        assert set(service.consents) == {"127.0.0.1:9", "models.example.org"}
        service.consents = {}
    (classifier,) = _classifiers(wiring, cast, ServiceMode.OBSERVE)
    (result,) = classifier.score(["x"], None)  # type: ignore[arg-type]  # a service reads no context
    assert result.error == Permanent("no operator agreed to send posts to models.example.org")


def test_only_operators_of_the_community(wiring: Wiring, cast: Cast, registry: Registry) -> None:
    service_id = added(wiring, cast, registry)
    outsider = replace(operator(cast), communities=frozenset({cast.other_community_id}))
    with wiring.database.writing() as session:
        with pytest.raises(NotFound):
            services.set_mode(session, outsider, service_id, ServiceMode.IN_FORCE, "Mine")
        for act in (
            lambda: services.set_mode(
                session, operator(cast, Role.MODERATOR), service_id, ServiceMode.OFF, "x"
            ),
            lambda: services.set_key(session, operator(cast, Role.MODERATOR), service_id, registry, "k", "x"),
            lambda: services.remove(session, operator(cast, Role.MODERATOR), service_id, "x"),
        ):
            with pytest.raises(Forbidden):
                act()


def test_a_day_counts_calls_times_errors_and_cost(wiring: Wiring, cast: Cast, registry: Registry) -> None:
    service_id = added(wiring, cast, registry)
    ledger = wiring.services.ledger
    for number in range(20):
        assert ledger.reserve(service_id, 20, 500.0)
        ledger.finish(
            service_id, Call(40 if number < 18 else 4_000, "it failed (503)" if number == 19 else "")
        )
    assert not ledger.reserve(service_id, 20, 500.0)
    ledger.finish(service_id, Call(cached=True))
    with wiring.database.reading() as session:
        (period,) = calls.period(session, [service_id], 30).values()
    assert (period.requests, period.errors, period.cached) == (20, 1, 1)
    assert period.cost == pytest.approx(10.0)
    assert (period.p50, period.p95, period.last_error) == (50, 5_000, "it failed (503)")


def test_a_model_that_changes_its_name_is_noticed_once(
    wiring: Wiring, cast: Cast, registry: Registry
) -> None:
    service_id = added(wiring, cast, registry)
    for model in ("model-1", "model-1", "model-2", "model-1", "model-2"):
        wiring.services.ledger.finish(service_id, Call(10, model=model))
    with wiring.database.reading() as session:
        service = session.get_one(ConnectedService, service_id)
        assert (service.model_seen, service.model_before) == ("model-2", "model-1")
        assert service.model_changed_at is not None
        changed = sa.select(HistoryEntry).where(HistoryEntry.what == "service.model_changed")
        (entry,) = session.scalars(changed).all()
        assert (entry.before, entry.after["model"]) == ({"model": "model-1"}, "model-2")


def test_a_kind_that_is_gone_fails_closed(wiring: Wiring, cast: Cast, registry: Registry) -> None:
    added(wiring, cast, registry)
    wiring.services.kinds = {}
    (classifier,) = _classifiers(wiring, cast, ServiceMode.OBSERVE)
    (result,) = classifier.score(["x"], None)  # type: ignore[arg-type]  # a service reads no context
    assert result.error == Permanent("no kind http is installed")


def _classifiers(wiring: Wiring, cast: Cast, mode: ServiceMode = ServiceMode.IN_FORCE) -> list[Any]:
    with wiring.database.reading() as session:
        return list(wiring.services.classifiers(session, cast.community_id, mode))


def test_doctor_names_services_that_fail(wiring: Wiring, cast: Cast, registry: Registry) -> None:
    def told() -> list[tuple[State, str]]:
        return [(finding.state, finding.detail) for finding in work.services(wiring)]

    assert told() == [(State.OK, "none is connected")]
    service_id = added(wiring, cast, registry)
    wiring.services.ledger.reserve(service_id, None, 0.0)
    wiring.services.ledger.finish(service_id, Call(10, "it failed (503)"))
    assert told() == [
        (State.WARN, "1 of 1 calls of own failed today: it failed (503)"),
        (State.OK, "1 connected"),
    ]
    wiring.services.kinds = {}
    assert told()[0] == (State.WARN, "own is of the kind http, which is not installed")


def test_names_never_look_like_a_built_in_classifier(wiring: Wiring, cast: Cast, registry: Registry) -> None:
    added(wiring, cast, registry, name="community")
    (classifier,) = _classifiers(wiring, cast, ServiceMode.OBSERVE)
    assert classifier.name == "service.community"
