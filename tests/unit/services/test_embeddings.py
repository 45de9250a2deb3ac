"""An embeddings service: vectors of fact-checks, posts found by meaning, and what happens when it fails or changes."""

import random
import uuid
import zlib
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from app.core.classify import FACT_CHECKS, Context
from app.core.factcheck import filling, items, nearest, search, spaces
from app.core.factcheck.items import Item
from app.core.factcheck.matching.matcher import fused
from app.core.factcheck.nearest import Vectors
from app.core.models import FactCheckItem, FactCheckVector, Request, ServiceDay, VectorSpace
from app.core.permissions import SYSTEM
from app.core.services import services
from app.core.services.kinds import Embeddings, Failure
from app.core.services.pool import checked
from app.core.services.services import Registry
from app.core.services.settings import ServiceSettings
from app.core.vocabulary import ServiceMode
from app.jobs import fact_checks
from tests.clocks import advance
from tests.stub_services import serving, status
from tests.unit.factcheck.test_meaning import IN_OTHER_WORDS, OTHERS
from tests.unit.services.conftest import Stage

CLAIM = "Drinking seawater every morning cures diabetes within two weeks"
TITLE = "Does drinking seawater cure diabetes?"
PLACES = [
    f"{first}{last}" for first in ["bor", "mun", "tel", "dra", "kip", "lof"] for last in ["lin", "dak", "mor"]
]
POST = f"They say that {CLAIM.lower()}. At the fair were {' '.join(PLACES)}"
"""Its words lead to the fact-checks about the places; only its meaning leads to the one about seawater."""


def item(name: str, claim: str, title: str = "") -> Item:
    return Item(
        "checks",
        name,
        claim,
        "False",
        f"https://checks.example.org/{name}",
        "Checks",
        title=title,
        language="en",
    )


def others() -> list[Item]:
    chosen = random.Random(3)  # noqa: S311 - the same texts every time
    made = []
    for number in range(52):
        own = [f"{word}{number}x" for word in ("harbour", "bell", "lantern", "gate", "melon", "plank")]
        made.append(item(f"place-{number}", " ".join([*chosen.sample(PLACES, 14), *own])))
    return made


def meaning(text: str) -> list[float]:
    """The vectors of the stub: seawater lies in one direction, everything else in another."""
    return [1.0 if "seawater" in text.lower() else 0.0, 1.0 if "bell" in text else 0.1, 0.05]


def embeds(
    stage: Stage, mode: ServiceMode = ServiceMode.IN_FORCE, name: str = "meanings", **more: Any
) -> uuid.UUID:
    settings = ServiceSettings(url=stage.stub.url("/v1"), model="model-1", deadline=1.0)
    with stage.wiring.database.writing() as session:
        service = services.add(
            session,
            SYSTEM,
            stage.cast.community_id,
            registry(stage),
            "embeddings",
            name,
            replace(settings, **more),
            "Try it",
            key="sk-secret",
            consent=True,
        )
        services.set_mode(session, SYSTEM, service.id, mode, "It helps")
        return service.id


def registry(stage: Stage) -> Registry:
    return Registry(stage.wiring.services.kinds, stage.wiring.sealer, stage.wiring.services.allow)


def sweep(stage: Stage, **more: Any) -> None:
    fact_checks.embed(stage.wiring.database, stage.wiring.services, **more)


def keep(stage: Stage, *kept: Item) -> None:
    with stage.wiring.database.writing() as session:
        items.keep(session, kept)


def matched(stage: Stage, text: str) -> str | None:
    """The id of the fact-check that a post matches, as the community's scorer finds it."""
    with stage.wiring.database.reading() as session:
        in_force = stage.wiring.classifiers_for(session, stage.cast.community_id)
    (scorer,) = (one for one in in_force if one.name == FACT_CHECKS)
    (result,) = scorer.score([text], Context(stage.cast.community_id, "en"))
    return None if result.fact_check is None else result.fact_check.item_id


def sent(stage: Stage) -> list[tuple[str, list[str]]]:
    """(model, texts) of every call since the last time."""
    calls = [(seen.body["model"], seen.body["input"]) for seen in stage.stub.seen]
    assert all(seen.path == "/v1/embeddings" for seen in stage.stub.seen)
    stage.stub.seen.clear()
    return calls


@pytest.fixture
def fair(stage: Stage) -> Stage:
    stage.stub.vector = meaning
    keep(stage, *others(), item("sea", CLAIM, TITLE))
    return stage


def test_a_post_is_found_by_meaning_where_its_words_lead_elsewhere(fair: Stage) -> None:
    embeds(fair)
    assert matched(fair, POST) is None, "without vectors, words alone lead to the others"
    assert sent(fair) == [], "nothing is asked for while there is nothing to compare with"
    sweep(fair)
    calls = sent(fair)
    assert [len(texts) for _, texts in calls] == [32, 21]
    assert f"{CLAIM} {TITLE}" in calls[1][1]
    with fair.wiring.database.reading() as session:
        request = session.get_one(Request, fair.score(f"{POST}!"))
        assert request.dataset_item_id == "sea"
    ((model, texts),) = sent(fair)
    assert (model, texts) == ("model-1", [f"{POST}!"]), "one call for a post"
    assert matched(fair, f"{POST}!") == "sea"
    assert matched(fair, f"{POST} https://t.co/x") == "sea"
    assert matched(fair, "https://example.org/only-a-link") is None
    assert sent(fair) == [], "the same words again need no call, and no words neither"
    sweep(fair)
    assert sent(fair) == [], "and a second run finds nothing to do"


def test_what_stands_out_by_meaning_is_shown_where_words_are_not_sure(stage: Stage) -> None:
    keep(stage, *(item(f"{number}", claim) for number, claim in enumerate(OTHERS)), item("sea", CLAIM, TITLE))
    assert matched(stage, IN_OTHER_WORDS) is None

    def vector(text: str) -> list[float]:
        chance = np.random.default_rng(zlib.crc32(text.encode())).normal(size=64)
        chance[0] += 40.0 if "diabetes" in text else 0.0
        return [float(number) for number in chance]

    stage.stub.vector = vector
    embeds(stage)
    sweep(stage)
    assert matched(stage, IN_OTHER_WORDS) == "sea"


def test_words_alone_must_do_while_the_service_fails_or_is_only_observed(fair: Stage) -> None:
    service_id = embeds(fair, ServiceMode.OBSERVE)
    sweep(fair)
    sent(fair)
    assert matched(fair, POST) is None
    assert sent(fair) == [], "observed: its vectors are made ready, and no post is sent"
    with fair.wiring.database.writing() as session:
        services.set_mode(session, SYSTEM, service_id, ServiceMode.IN_FORCE, "It helps")
    fair.stub.fail(status(503))
    assert matched(fair, f"{POST}!") is None
    assert len(sent(fair)) == 1, "a post does not wait for a second attempt"
    assert matched(fair, f"My aunt swears: {CLAIM}") == "sea"
    (day,) = fair.rows(ServiceDay)
    assert (day.errors, day.last_error) == (2, "it failed (503)")
    fair.stub.faults_left = 0
    assert matched(fair, f"{POST}!") == "sea", "what was matched without vectors is not kept"


@pytest.mark.both_databases
def test_another_model_takes_over_at_once_when_every_fact_check_has_its_vector(fair: Stage) -> None:
    service_id = embeds(fair)
    sweep(fair)
    assert matched(fair, f"{POST} 1") == "sea"
    sent(fair)
    fair.stub.vector = lambda text: [*meaning(text), 0.01]
    settings = ServiceSettings(url=fair.stub.url("/v1"), model="model-2", deadline=1.0)
    with fair.wiring.database.writing() as session:
        version = services.change(session, SYSTEM, service_id, registry(fair), settings, "A newer model")
        services.put_in_force(session, SYSTEM, service_id, version.version, "Use it")
    sweep(fair, seconds=-1)
    fair.stub.vector = meaning
    assert matched(fair, f"{POST} 2") == "sea"
    assert [model for model, _ in sent(fair)] == ["model-1"], "the old vectors serve meanwhile"
    with fair.wiring.database.reading() as session:
        (before,) = spaces.progress(session, fair.wiring.services)
    assert (before.done, before.items, before.is_used, before.is_changing) == (0, 53, True, True)
    fair.stub.vector = lambda text: [*meaning(text), 0.01]
    sweep(fair)
    assert {model for model, _ in sent(fair)} == {"model-2"}
    assert matched(fair, f"{POST} 3") == "sea"
    assert [model for model, _ in sent(fair)] == ["model-2"]
    (space,) = fair.rows(VectorSpace)
    assert (space.dimensions, len(fair.rows(FactCheckVector))) == (4, 53), "the old vectors are deleted"
    with fair.wiring.database.writing() as session:
        services.remove(session, SYSTEM, service_id, "Not needed")
    sweep(fair)
    assert (fair.rows(VectorSpace), fair.rows(FactCheckVector)) == ([], [])


def test_the_key_of_a_new_host_is_not_sent_to_the_old_one(fair: Stage) -> None:
    service_id = embeds(fair)
    sweep(fair)
    sent(fair)
    with serving() as elsewhere:
        elsewhere.vector = meaning
        settings = ServiceSettings(url=elsewhere.url("/v1"), model="model-1", deadline=1.0)
        with fair.wiring.database.writing() as session:
            services.change(session, SYSTEM, service_id, registry(fair), settings, "Moved", consent=True)
            services.put_in_force(session, SYSTEM, service_id, 2, "Moved")
            services.set_key(session, SYSTEM, service_id, registry(fair), "sk-new", "Moved")
        assert matched(fair, POST) is None, "by words alone until the new vectors are complete"
        assert elsewhere.seen == []
        sweep(fair)
        assert matched(fair, f"{POST}!") == "sea"
        assert {seen.headers["Authorization"] for seen in elsewhere.seen} == {"Bearer sk-new"}
    assert sent(fair) == [], "nothing went to the old host"


@pytest.mark.both_databases
def test_only_texts_that_are_new_are_sent(stage: Stage) -> None:
    embeds(stage)
    keep(stage, item("a", "One claim"), item("b", "One claim"), item("c", "Another claim"))
    sweep(stage)
    assert sent(stage) == [("model-1", ["One claim", "Another claim"])], "equal texts are sent once"
    keep(stage, item("a", "A changed claim"), item("d", "Another claim"))
    sweep(stage)
    assert sent(stage) == [("model-1", ["A changed claim"])]
    with stage.wiring.database.writing() as session:
        found = session.scalars(sa.select(FactCheckItem).where(items.serving(None))).all()
        items.hide(session, [row.id for row in found if row.item_id == "a"])
        (space,) = session.scalars(sa.select(VectorSpace)).all()
        vector = np.array([15.0, 10.0], np.float32) / np.float32(325**0.5)
        near = Vectors().nearest(session, space.id, vector, 2).ids
        assert [row.item_id for row in found if row.id == near[0]] == ["a"]
        index = search.DatabaseIndex(session, stage.cast.community_id)
        assert len(index.numbers_of(near)) == 1, "a retired item has a vector, and is no candidate"
    assert len(stage.rows(FactCheckVector)) == 4


@pytest.mark.parametrize("what", ["off", "key", "removed"])
def test_a_service_that_is_changed_meanwhile_is_asked_no_more(fair: Stage, what: str) -> None:
    service_id = embeds(fair)

    def change_first(handler: Any) -> None:
        with fair.wiring.database.writing() as session:
            if what == "off":
                services.set_mode(session, SYSTEM, service_id, ServiceMode.OFF, "Too dear")
            elif what == "key":
                services.set_key(session, SYSTEM, service_id, registry(fair), "sk-new", "Ours was stolen")
            else:
                services.remove(session, SYSTEM, service_id, "Not needed")
        fair.stub.answer_to(handler, fair.stub.seen[-1])

    fair.stub.fail(change_first, times=1)
    sweep(fair)
    seen = fair.stub.seen
    assert len(seen) == 1, "the second batch is not sent"
    if what == "key":
        (space,) = fair.rows(VectorSpace)
        assert (space.covered, space.complete_at, space.problem) == ("", None, "")
        sweep(fair)
        assert [call.headers["Authorization"] for call in seen[1:]] == ["Bearer sk-new"]


@pytest.mark.both_databases
def test_only_fact_checks_in_use_take_a_place(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spaces, "MOST", 3)
    embeds(stage)
    keep(stage, item("a", "One claim"), item("b", "Two claims"), item("c", "Three claims"))
    sweep(stage)
    keep(stage, item("a", "One changed claim"), item("b", "Two changed claims"))
    sweep(stage)
    (space,) = stage.rows(VectorSpace)
    assert (space.problem, len(stage.rows(FactCheckVector))) == ("", 3), "changed ones take no second place"
    keep(stage, item("d", "Four claims"), item("c", "Three changed claims"))
    sent(stage)
    sweep(stage)
    assert sent(stage) == [("model-1", ["Three changed claims"])], "also a full space follows changes"
    (space,) = stage.rows(VectorSpace)
    assert "only 3 fact-checks have a vector" in space.problem
    with stage.wiring.database.writing() as session:
        retired = session.scalars(sa.select(FactCheckItem.id).where(FactCheckItem.item_id == "a")).one()
        items.hide(session, [retired])
    keep(stage, item("b", "Two other claims"))
    sweep(stage)
    (space,) = stage.rows(VectorSpace)
    kept = stage.rows(FactCheckVector)
    assert (space.problem, len(kept)) == ("", 3), "the new one has the place of the retired one"
    assert retired not in {row.item_id for row in kept}


def test_a_slow_service_leaves_the_others_their_share_of_the_time(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = embeds(stage, name="a-slow-one"), embeds(stage, name="quick")
    keep(stage, *(item(f"{number}", f"Claim number {number}") for number in range(200)))
    seconds = [0.0]
    monkeypatch.setattr(fact_checks, "time", SimpleNamespace(monotonic=lambda: seconds[0]))

    def slowly(handler: Any) -> None:
        seconds[0] += 60
        stage.stub.answer_to(handler, stage.stub.seen[-1])

    stage.stub.fail(slowly)
    sweep(stage, seconds=300)
    of = {space.service_id: space.id for space in stage.rows(VectorSpace)}
    done = Counter(row.space_id for row in stage.rows(FactCheckVector))
    assert (done[of[slow]], done[of[quick]]) == (3 * 32, 2 * 32)


def test_a_post_without_match_is_matched_again_when_new_vectors_are_there(stage: Stage) -> None:
    stage.stub.vector = meaning
    keep(stage, *others())
    embeds(stage)
    sweep(stage)
    keep(stage, item("sea", CLAIM, TITLE))
    assert matched(stage, POST) is None, "the new fact-check has no vector yet"
    sweep(stage)
    assert matched(stage, POST) == "sea"


def test_vectors_in_memory_keep_to_their_bytes(fair: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    embeds(fair)
    sweep(fair)
    monkeypatch.setattr(nearest, "BYTES_MAX", nearest.size(100, 3))
    vectors, vector = Vectors(), np.array([0.9, 0.3, 0.3], np.float32)
    with fair.wiring.database.writing() as session:
        (space,) = session.scalars(sa.select(VectorSpace)).all()
        second = VectorSpace(service_id=space.service_id, settings_version=1, identity="second", dimensions=3)
        session.add(second)
        session.flush()
        stored = session.scalars(sa.select(FactCheckVector)).all()
        columns = ("item_id", "number", "sha256", "vector", "position")
        copies = [{"space_id": second.id} | {name: getattr(row, name) for name in columns} for row in stored]
        session.execute(sa.insert(FactCheckVector), copies)
        assert len(vectors.nearest(session, space.id, vector, 2).ids) == 2
        assert len(vectors.nearest(session, second.id, vector, 2).ids) == 2
        assert vectors.held() == [second.id], "both together are too large"
        vectors.nearest(session, space.id, vector, 2)
        assert vectors.held() == [space.id]
        monkeypatch.setattr(nearest, "BYTES_MAX", nearest.size(1000, 3))
        vectors.nearest(session, second.id, vector, 2)
        assert filling.delete(session, second.id) is False
        vectors.nearest(session, space.id, vector, 2)
        assert vectors.held() == [space.id], "a deleted space leaves the memory"


def test_a_space_too_large_for_the_memory_is_not_used(fair: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    embeds(fair)
    sweep(fair)
    monkeypatch.setattr(nearest, "BYTES_MAX", nearest.size(53, 3) - 1)
    assert matched(fair, POST) is None, "it is not loaded"
    keep(fair, item("one-more", "Another claim"))
    sweep(fair)
    sent(fair)
    assert matched(fair, f"{POST}!") is None
    assert sent(fair) == [], "no post is sent for nothing"
    with fair.wiring.database.reading() as session:
        (progress,) = spaces.progress(session, fair.wiring.services)
    assert (progress.is_used, progress.done) == (False, 54)
    assert "fewer dimensions would do" in progress.problem
    monkeypatch.setattr(nearest, "BYTES_MAX", nearest.size(54, 3))
    advance(seconds=600)
    sweep(fair)
    assert matched(fair, f"{POST}!!") == "sea", "used once there is room"


def test_a_service_that_fails_is_left_alone_for_a_while_and_then_goes_on(fair: Stage) -> None:
    embeds(fair, daily_requests=1)
    sweep(fair)
    assert len(sent(fair)) == 1
    (space,) = fair.rows(VectorSpace)
    assert (space.problem, space.complete_at) == ("the daily budget is used up", None)
    sweep(fair)
    advance(seconds=86_400)
    sweep(fair)
    (space,) = fair.rows(VectorSpace)
    assert (space.problem, len(fair.rows(FactCheckVector))) == ("", 53)
    assert space.complete_at is not None
    assert len(sent(fair)) == 1, "what has its vector is not sent again"


def test_a_text_that_the_model_refuses_is_sent_shorter(stage: Stage) -> None:
    embeds(stage)
    keep(stage, item("long", "long words " * 150), item("short", "A short claim"))

    def refuse(handler: Any) -> None:
        texts = stage.stub.seen[-1].body["input"]
        if any(len(text) > 500 for text in texts):
            status(400)(handler)
        else:
            stage.stub.answer_to(handler, stage.stub.seen[-1])

    stage.stub.fail(refuse)
    sweep(stage)
    assert all(vector.vector for vector in stage.rows(FactCheckVector))
    assert [len(texts[0]) for _, texts in sent(stage)][-3:] == [1649, 400, 13]
    stage.stub.fail(status(400))
    keep(stage, item("other", "Another claim"))
    sweep(stage)
    (space,) = stage.rows(VectorSpace)
    assert space.problem == "it refuses the request (400)", (
        "a service that refuses everything is not worked around"
    )
    assert len(stage.rows(FactCheckVector)) == 2


@pytest.mark.parametrize(
    ("vectors", "why"),
    [
        ([[1.0]], "1 vectors for 2 texts"),
        ([[1.0], [1.0, 2.0]], "different sizes"),
        ([[0.0, 0.0], [1.0, 0.0]], "without direction"),
        ([[1e308, 1e308], [1.0, 0.0]], "without direction"),
        ([["x"], ["y"]], "not of numbers"),
        ([[], []], "no vectors of 1 to 4,096"),
        ([[0.5] * 5_000] * 2, "no vectors of 1 to 4,096"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_an_answer_that_is_no_list_of_vectors_is_a_failure(vectors: Any, why: str) -> None:
    with pytest.raises(Failure, match=why):
        checked(Embeddings(vectors), 2)


def test_vectors_have_length_one_and_rankings_are_fused_by_their_places() -> None:
    (vector,) = checked(Embeddings([[3.0, 4.0]]), 1)
    assert vector.tolist() == pytest.approx([0.6, 0.8])
    assert fused([1, 2, 3], []) == [1, 2, 3]
    assert fused([1, 2, 3], [9, 3]) == [3, 1, 9, 2], "early in both is best"
