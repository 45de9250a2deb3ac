"""Operators add a service, observe it, count its scores, change it and remove it, in the dashboard."""

import html
import io
import json
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from app.adapters.services import onnx_model
from app.adapters.services.onnx_files import ModelLimits
from app.commands.doctor import work
from app.core.db import Base
from app.core.factcheck import items
from app.core.factcheck.items import Item
from app.core.models import Action, Category, ConnectedService, HistoryText, Score, ServiceVersion
from app.core.outbound import AllowList
from app.core.vocabulary import ServiceMode
from app.jobs import fact_checks
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.factories import submit
from tests.inline_engine import InlineEngine
from tests.onnx_models import write_model
from tests.stub_services import WORD, Stub, serving, status
from tests.web.conftest import Visitor

Visit = Callable[[Person | None], Visitor]
KEY = "sk-very-secret-key"
NEW = "/classifiers/services/new"


@pytest.fixture
def stub(wiring: Wiring) -> Iterator[Stub]:
    wiring.services.allow = AllowList.parse("127.0.0.1")
    with serving() as started:
        yield started


def add(operator: Visitor, stub: Stub, kind: str = "http", **changes: str) -> str:
    """Add a service by the form; return the path of its page."""
    paths = {"openai_moderation": "/v1", "chat_guard": "/v1", "azure_content_safety": "", "http": "/score"}
    paths |= {"embeddings": "/v1", "perspective": "/v1alpha1"}
    form = {
        "name": "own",
        "url": stub.url(paths[kind]),
        "model": "" if kind in ("http", "perspective") else "model-1",
        "key": KEY,
        "deadline": "2,5",
        "consent": "y",
        "reason": "Try it",
    } | changes
    answer = operator.post(NEW, kind=kind, **form)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def service(wiring: Wiring) -> ConnectedService:
    with wiring.database.reading() as session:
        return session.scalars(sa.select(ConnectedService)).one()


def post(wiring: Wiring, cast: Cast, jobs: InlineEngine, text: str, number: int = 1) -> None:
    submit(wiring, cast, text, f"post-{number}")
    jobs.run_all()


def actions(wiring: Wiring) -> list[Action]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(Action).order_by(Action.id)))


def test_every_kind_is_offered_with_its_usual_values(visit: Visit, cast: Cast) -> None:
    operator = visit(cast.operator)
    kinds = operator.get(NEW).text
    for name in ("openai_moderation", "azure_content_safety", "perspective", "chat_guard", "http", "onnx"):
        assert f"{NEW}?kind={name}" in kinds
        assert operator.get(f"{NEW}?kind={name}").status_code == 200
    assert "https://api.openai.com/v1" in operator.get(f"{NEW}?kind=openai_moderation").text
    assert operator.get(f"{NEW}?kind=magic").status_code == 404


def test_a_service_for_unsure_posts_is_not_asked_where_the_shipped_model_is_sure(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, stub: Stub
) -> None:
    operator = visit(cast.operator)
    # The one category that both score: the shipped model finds nothing of it in a plain sentence.
    map_lines = "TOXICITY = toxicity\nSPAM ="
    path = add(operator, stub, "perspective", option_ask_when="if_unsure", categories=map_lines)
    counted = operator.post(f"{path}/mode", mode="in_force", if_it_fails="review", reason="It agrees")
    assert counted.status_code == 303
    post(wiring, cast, jobs, "The library on the corner opens at nine in the morning.")
    assert stub.seen == []
    assert actions(wiring) == []
    post(wiring, cast, jobs, f"C'est une phrase tout à fait ordinaire avec un {WORD} dans le jardin.", 2)
    assert len(stub.seen) == 1
    assert [action.category for action in actions(wiring)] == ["toxicity"]


@pytest.fixture
def models(wiring: Wiring, tmp_path: Path) -> Path:
    """The folder of models, with the model "tiny" in it."""
    folder = tmp_path / "models"
    write_model(folder / "tiny")
    wiring.services.kinds = {**wiring.services.kinds, "onnx": onnx_model.kind(ModelLimits(folder))}
    return folder


def add_files(operator: Visitor, **changes: str) -> Any:
    form = {"name": "own", "option_folder": "tiny", "deadline": "30", "reason": "Try it"} | changes
    return operator.post(NEW, kind="onnx", **form)


def test_a_model_as_files_is_added_without_url_key_and_consent_and_observed(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, models: Path
) -> None:
    operator = visit(cast.operator)
    form = operator.get(f"{NEW}?kind=onnx").text
    assert 'name="key"' not in form
    assert 'name="url"' not in form
    path = add_files(operator).headers["Location"]
    post(wiring, cast, jobs, f"A {WORD}")
    with wiring.database.reading() as session:
        score = session.scalars(sa.select(Score).where(Score.classifier == "service.own")).one()
    assert (score.category, score.is_observed) == ("toxicity", True)
    assert score.score == pytest.approx(0.9526)
    assert score.classifier_version.startswith("1+tiny-")
    assert "tiny-" in operator.get(path).text


def test_a_folder_that_cannot_be_used_is_explained_at_its_field(
    visit: Visit, cast: Cast, wiring: Wiring, models: Path
) -> None:
    operator = visit(cast.operator)
    for folder, reason in (
        ("../models", "without a path"),
        ("other", "none of those"),
        ("", "without a path"),
    ):
        answer = add_files(operator, option_folder=folder)
        assert answer.status_code == 422
        assert f"Folder must be named {reason}" in answer.text or f"Folder is {reason}" in answer.text
    (models / "tiny" / "README.md").unlink()
    assert "Folder has no README.md." in add_files(operator).text
    wiring.services.kinds = {**wiring.services.kinds, "onnx": onnx_model.kind(ModelLimits())}
    assert "This installation has no folder of models" in operator.get(f"{NEW}?kind=onnx").text
    assert "This installation has no folder of models" in add_files(operator).text
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(ConnectedService)).all() == []


def test_changed_files_are_used_once_the_settings_are_saved_again(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, models: Path
) -> None:
    operator = visit(cast.operator)
    path = add_files(operator).headers["Location"]
    same = {"option_folder": "tiny", "deadline": "30", "reason": "Again"}
    refused = operator.post(path, **same)
    assert refused.status_code == 422
    assert "are the same as before" in refused.text
    (models / "tiny" / "README.md").write_text("# Trained again\n")
    post(wiring, cast, jobs, f"A {WORD}")
    assert "its files were changed" in operator.get(path).text
    assert operator.post(path, **same).status_code == 303
    post(wiring, cast, jobs, f"Another {WORD}", 2)
    with wiring.database.reading() as session:
        versions = session.scalars(sa.select(ServiceVersion).order_by(ServiceVersion.version)).all()
        (score,) = session.scalars(sa.select(Score).where(Score.classifier == "service.own"))
    assert versions[0].settings["model"] != versions[1].settings["model"]
    assert score.classifier_version == f"2+{versions[1].settings['model']}"


def measure(operator: Visitor, path: str, texts: dict[str, list[str]], version: int = 1) -> Any:
    lines = "\n".join(json.dumps({"text": text, "categories": names}) for text, names in texts.items())
    file = (io.BytesIO(lines.encode()), "examples.jsonl")
    return operator.post(f"{path}/versions/{version}/measure", examples=file, reason="Ours")


# Of the bad ones the model finds four of five, of the others it takes one for bad.
EXAMPLES = {
    **{f"Secret word number {number}: a {WORD}": ["toxicity"] for number in range(4)},
    "Secret word: badness": ["toxicity", "spam"],
    **{f"Secret word number {number}: weather": [] for number in range(4)},
    f"A harmless {WORD} with a secret word": ["spam"],
}


def test_a_model_as_files_counts_only_after_it_was_measured_on_examples(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, models: Path
) -> None:
    operator = visit(cast.operator)
    path = add_files(operator).headers["Location"]
    count = {"mode": "in_force", "if_it_fails": "review", "reason": "It agrees"}
    refused = operator.post(f"{path}/mode", **count)
    assert refused.status_code == 422
    assert "Version 1 must be measured on your own examples before its scores count." in refused.text
    assert service(wiring).mode is ServiceMode.OBSERVE
    assert measure(operator, path, EXAMPLES).status_code == 303
    page = html.unescape(operator.get(path).text)
    for threshold in ("your threshold 0.55", "its maker's 0.7"):
        assert f"toxicity, above {threshold}: 4 of 5 found, 1 of 5 others flagged wrongly" in page
    assert "Kitten finder 1 (CC0-1.0), tiny-" in page
    changes = html.unescape(operator.get("/history/settings").text)
    assert "Service measured on examples" in changes
    assert "4 of 5 found" in html.unescape(operator.get("/history/settings.csv").text)
    assert operator.post(f"{path}/mode", **count).status_code == 303
    post(wiring, cast, jobs, f"A {WORD}")
    assert [action.category for action in actions(wiring)] == ["toxicity"]
    with wiring.database.reading() as session:
        rows = [str(session.execute(sa.select(table)).all()) for table in Base.metadata.sorted_tables]
    assert "secret word" not in " ".join(rows).lower()
    # Other files are another version, which must be measured too.
    (models / "tiny" / "README.md").write_text("# Trained again\n")
    post(wiring, cast, jobs, "Harmless", 2)
    assert [action.category for action in actions(wiring)] == ["toxicity", "unfinished"]
    assert operator.post(path, option_folder="tiny", deadline="30", reason="Trained again").status_code == 303
    in_force = f"{path}/versions/2/put-in-force"
    assert operator.post(in_force, reason="Newer").status_code == 422
    assert measure(operator, path, EXAMPLES, version=2).status_code == 303
    assert operator.post(in_force, reason="Newer").status_code == 303
    assert service(wiring).version == 2


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ({}, "must be 10 to 500 texts"),
        (
            {str(number): ["toxicity"] for number in range(10)},
            "must have texts with and without a category that it scores",
        ),
    ],
)
def test_examples_that_cannot_be_measured_on_are_explained(
    visit: Visit, cast: Cast, models: Path, texts: dict[str, list[str]], reason: str
) -> None:
    operator = visit(cast.operator)
    path = add_files(operator).headers["Location"]
    answer = measure(operator, path, texts)
    assert answer.status_code == 422
    assert f"Examples {reason}" in html.unescape(answer.text)
    assert measure(visit(cast.moderator), path, EXAMPLES).status_code in (403, 404)


def test_a_service_is_added_observed_compared_counted_and_required(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, stub: Stub
) -> None:
    operator = visit(cast.operator)
    path = add(operator, stub)
    found = service(wiring)
    assert (found.mode, found.name) == (ServiceMode.OBSERVE, "own")
    page = operator.get(path).text
    assert KEY not in page
    assert "observed only" in page
    assert f"{stub.host}" in page
    post(wiring, cast, jobs, f"A {WORD}")
    assert actions(wiring) == []
    compared = operator.get(f"{path}/comparison").text
    assert "1 post of the last 30 days" in compared
    assert "Over a threshold: 0 (Without it), 1 (With it)." in compared
    assert "Let through" in compared
    assert "Toxicity, Tier 2" in compared

    assert operator.post(f"{path}/mode", reason="It agrees").status_code == 422
    assert operator.post(f"{path}/mode", mode="in_force", if_it_fails="review").status_code == 422
    counted = operator.post(f"{path}/mode", mode="in_force", if_it_fails="review", reason="It agrees")
    assert counted.status_code == 303
    with wiring.database.reading() as session:
        category = sa.select(Category).order_by(Category.id.desc()).where(Category.name == "toxicity")
        rule = session.scalars(category.limit(1)).one()
        assert (rule.requires, rule.on_error) == (["service.own"], "review")
    post(wiring, cast, jobs, f"Another {WORD}", 2)
    (action,) = actions(wiring)
    assert (action.category, action.score) == ("toxicity", 0.93)
    listed = operator.get("/classifiers").text
    assert "service.own" in listed
    assert "counts" in listed
    evidence = visit(cast.moderator).get(f"/review/{action.id}").text
    assert "service.own 1+model-1: Toxicity 0.93" in evidence

    stub.fail(status(400))
    post(wiring, cast, jobs, "Something harmless", 3)
    assert {one.category for one in actions(wiring)} == {"toxicity", "unfinished"}
    operator.post(f"{path}/mode", mode="observe", reason="Too many failures")
    assert service(wiring).mode is ServiceMode.OBSERVE
    history = operator.get("/history/settings?area=classifiers").text
    for told in ("Service added", "Scores of a service count", "Service only observed", "Too many failures"):
        assert told in history


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_an_embeddings_service_shows_its_vectors_and_no_scores(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, stub: Stub
) -> None:
    operator = visit(cast.operator)
    with wiring.database.writing() as session:
        url = "https://checks.example.org/1"
        items.keep(session, [Item("checks", "sea-1", "Seawater cures all", "False", url, "Checks")])
    form = operator.get(f"{NEW}?kind=embeddings").text
    assert "Numbers in a vector" in form
    assert "Tier 1" not in form
    path = add(operator, stub, "embeddings", name="meanings", model="model-1")
    page = operator.get(path).text
    assert "0 of 1 fact-checks have a vector of model-1." in page
    for button in ("Compare with and without it", "Count its scores", "If it fails", "Try"):
        assert f">{button}<" not in page
    assert operator.post(f"{path}/mode", mode="in_force", reason="It helps").status_code == 303
    fact_checks.embed(wiring.database, wiring.services)
    assert "1 of 1 fact-checks have a vector of model-1. Posts are compared by words and by meaning." in (
        operator.get("/datasets").text
    )
    assert "finds fact-checks" in operator.get("/classifiers").text
    assert [finding.detail for finding in work.vectors(wiring)] == ["1 of 1 of meanings"]
    stub.fail(status(503))
    post(wiring, cast, jobs, "Anything")
    assert "Most calls failed today (it failed (503)): such posts are compared by their words alone." not in (
        operator.get("/datasets").text
    ), "half of the calls are not most of them"
    post(wiring, cast, jobs, "Anything else", 2)
    post(wiring, cast, jobs, "Anything new", 3)
    assert "Most calls failed today (it failed (503)): such posts are compared by their words alone." in (
        operator.get("/datasets").text
    )
    (finding,) = work.vectors(wiring)
    assert (finding.state, "it failed (503). Meanwhile posts" in finding.detail) == ("warn", True)
    tried = operator.post(f"{path}/versions/1/try", reason="x")
    assert tried.status_code == 200, "it scores nothing, and says so instead of failing"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_what_is_wrong_is_told_at_its_field_and_the_key_is_not_sent_back(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    refused = operator.post(
        NEW,
        kind="openai_moderation",
        name="OpenAI",
        url="http://10.0.0.1/v1",
        model="",
        key=KEY,
        categories="harassment = Toxicity!",
        deadline="99",
        reason="Try it",
    )
    text = html.unescape(refused.text)
    assert refused.status_code == 422
    for told in (
        "Name must be 1 to 40",
        "URL must start with https://",
        "Model must name the model",
        "(for harassment)",
        "Seconds for one call must be from 0.1 to 30",
        "Posts of this community are sent to this host must be given",
    ):
        assert told in text
    assert KEY not in text
    assert "harassment = Toxicity!" in text
    for field, value in (("deadline", "soon"), ("daily_requests", "1.5"), ("categories", "harassment")):
        assert operator.post(NEW, kind="http", **{field: value}).status_code == 422
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(ConnectedService)) == 0


def test_changed_settings_wait_are_tried_and_put_in_force(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, stub: Stub
) -> None:
    operator = visit(cast.operator)
    path = add(operator, stub)
    operator.post(f"{path}/mode", mode="in_force", if_it_fails="", reason="It agrees")
    post(wiring, cast, jobs, f"A {WORD}")
    old = str(service(wiring).etag)
    changed = {
        "url": stub.url("/score"),
        "categories": "toxicity =\nsarcasm = spam",
        "reason": "Only sarcasm",
    }
    assert operator.post(path, **changed, etag=old).status_code == 303
    page = operator.get(path).text
    assert "Version 2 waits" in page
    assert "Categories, toxicity: toxicity → none" in page
    late = operator.post(path, **(changed | {"deadline": "9", "reason": "Mine"}), etag=old)
    assert late.status_code == 409
    assert "Operator, just now" in late.text
    assert 'value="Mine"' in late.text

    tried = operator.post(f"{path}/versions/2/try").text
    assert "Version 2 on recent posts" in tried
    assert "Toxicity, Tier 2" in tried
    assert service(wiring).version == 1
    assert operator.post(f"{path}/versions/2/put-in-force").status_code == 422
    assert operator.post(f"{path}/versions/9/put-in-force", reason="x").status_code == 404
    assert operator.post(f"{path}/versions/2/put-in-force", reason="Tried").status_code == 303
    assert service(wiring).version == 2
    post(wiring, cast, jobs, f"Another {WORD}", 2)
    assert len(actions(wiring)) == 1
    with wiring.database.reading() as session:
        versions = set(session.scalars(sa.select(Score.classifier_version)))
    assert {"1+model-1", "2+model-1"} <= versions


def test_another_host_needs_consent_again(visit: Visit, cast: Cast, wiring: Wiring, stub: Stub) -> None:
    operator = visit(cast.operator)
    path = add(operator, stub)
    moved = {"url": "https://models.example.org/score", "reason": "Moved"}
    refused = operator.post(path, **moved)
    assert refused.status_code == 422
    assert "sent to another host" in refused.text
    assert operator.post(path, **moved, consent="y").status_code == 303
    assert set(service(wiring).consents) == {stub.host, "models.example.org"}
    said = operator.get(path.removesuffix("/settings")).text
    assert re.search(r"agreed by <bdi>[^<]+</bdi> on \d{1,2} [A-Z][a-z]{2} \d{4}, ", said), (
        "a date as elsewhere"
    )


def test_what_happens_on_failure_is_chosen_for_each_category(
    visit: Visit, cast: Cast, wiring: Wiring, stub: Stub
) -> None:
    operator = visit(cast.operator)
    path = add(operator, stub, categories="toxicity = toxicity\nhate = hate")
    saved = operator.post(
        f"{path}/required", require_toxicity="retry", require_hate="", reason="Toxicity must not slip through"
    )
    assert saved.status_code == 303
    with wiring.database.reading() as session:
        rows = session.scalars(sa.select(Category)).all()
        assert [(row.name, row.on_error) for row in rows if row.requires] == [("toxicity", "retry")]
    assert operator.post(f"{path}/required", require_toxicity="explode", reason="x").status_code == 422


def test_the_key_is_replaced_and_goes_with_the_service(
    visit: Visit, cast: Cast, wiring: Wiring, stub: Stub
) -> None:
    operator = visit(cast.operator)
    path = add(operator, stub)
    refused = operator.post(f"{path}/key", key="two words", reason="Rotated")
    assert refused.status_code == 422
    assert "two words" not in refused.text
    assert operator.post(f"{path}/key", key="sk-another", reason="Rotated").status_code == 303
    found = service(wiring)
    assert found.key is not None
    assert wiring.sealer.open(found.key, str(found.id)) == "sk-another"
    assert operator.post(f"{path}/remove").status_code == 422
    assert operator.post(f"{path}/remove", reason="Too dear").status_code == 303
    assert service(wiring).key is None
    assert operator.get(path).status_code == 404
    with wiring.database.reading() as session:
        texts = f"{session.scalars(sa.select(HistoryText.reason)).all()}"
        texts += f"{[version.settings for version in session.scalars(sa.select(ServiceVersion))]}"
    assert KEY not in texts


def test_a_text_is_tested_with_every_service_beside_the_built_ins(
    visit: Visit, cast: Cast, wiring: Wiring, stub: Stub
) -> None:
    operator = visit(cast.operator)
    add(operator, stub, name="first")
    path = add(operator, stub, kind="openai_moderation", name="second")
    operator.post(f"{path}/mode", mode="in_force", if_it_fails="", reason="It agrees")
    tested = operator.post("/classifiers/test", text=f"You {WORD}", which="in_force").text
    for told in ("builtin.rules", "service.first 1", "service.second 1", "observed only", "Toxicity 0.93"):
        assert told in tested
    assert "People would be asked" in tested
    stub.fail(status(401))
    failing = operator.post("/classifiers/test", text="You puppy", which="in_force").text
    assert "No answer: it rejects the key (401)" in failing
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Score)) == 0


def test_a_model_that_changes_is_shown_and_the_evidence_keeps_which_one_answered(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, stub: Stub
) -> None:
    operator = visit(cast.operator)
    path = add(operator, stub)
    operator.post(f"{path}/mode", mode="in_force", if_it_fails="", reason="It agrees")
    post(wiring, cast, jobs, f"A {WORD}", 1)
    stub.model = "model-2"
    post(wiring, cast, jobs, f"Another {WORD}", 2)
    assert "another model: model-2 instead of model-1" in operator.get(path).text
    assert "Model of a service changed" in operator.get("/history/settings?area=classifiers").text
    used = [action.evidence["details"]["classifiers"][-1]["model"] for action in actions(wiring)]
    assert sorted(used) == ["model-1", "model-2"]
    # Only posts that were scored with this version of the settings are compared, by whichever model.
    assert "2 posts of the last 30 days" in operator.get(f"{path}/comparison").text


def test_the_key_is_in_no_row_no_log_and_no_page(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    operator = visit(cast.operator)
    path = add(operator, stub)
    operator.post(f"{path}/mode", mode="in_force", if_it_fails="review", reason="It agrees")
    post(wiring, cast, jobs, f"A {WORD}", 1)
    stub.fail(status(401))
    post(wiring, cast, jobs, f"Another {WORD}", 2)
    assert [seen.headers["Authorization"] for seen in stub.seen] == [f"Bearer {KEY}"] * 2
    with wiring.database.reading() as session:
        rows = [str(session.execute(sa.select(table)).all()) for table in Base.metadata.sorted_tables]
    pages = [operator.get(one).text for one in (path, "/classifiers", "/history/settings.csv")]
    assert "Try it" in pages[2]
    assert [text[:80] for text in (*rows, *pages, caplog.text) if KEY in text] == []


def test_moderators_see_what_an_observed_service_said(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, stub: Stub
) -> None:
    add(visit(cast.operator), stub)
    post(wiring, cast, jobs, f"You are an idiot, {WORD}, and everybody here knows it")
    (action,) = actions(wiring)
    page = visit(cast.moderator).get(f"/review/{action.id}").text
    assert "service.own 1+model-1: Toxicity 0.93 (observed only, led to nothing)" in page
    assert "arcasm" not in page


def test_only_operators_and_nobody_from_elsewhere(
    visit: Visit, cast: Cast, wiring: Wiring, stub: Stub
) -> None:
    path = add(visit(cast.operator), stub)
    for who, expected in (("rater", 403), ("moderator", 403), ("outsider", 404)):
        visitor = visit(getattr(cast, who))
        assert visitor.get(path).status_code == expected
        assert visitor.post(f"{path}/mode", mode="in_force", reason="x").status_code == expected
        assert visitor.post(f"{path}/remove", reason="x").status_code == expected
    assert service(wiring).mode is ServiceMode.OBSERVE
    assert visit(cast.operator).get(f"/classifiers/services/{uuid.uuid4()}").status_code == 404
