"""The clients of Perspective and OpenAI ask this service for scores, over HTTP and as they are installed.

They come with the generators of clients (``scripts/clients``), which needs PyPI and the npm registry the first time.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.vocabulary import KeyTemplate
from tests.api.conftest import HARMLESS, INSULT
from tests.api.test_generated_clients import CALLS, run
from tests.browser.live import ROOT, Service, running

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, warm_processes: None) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("service")) as started:
        yield started


@pytest.fixture(scope="module")
def key(service: Service) -> str:
    with service.wiring.database.writing() as session:
        return keys.mint(session, SYSTEM, "Comments", KeyTemplate.SCORES, None).text


@pytest.fixture(scope="module")
def ask(service: Service, key: str) -> Ask:
    """``ask(program, text, …)``: what a program of the environment of clients prints."""
    environment = Path(run(ROOT / "scripts" / "clients").strip())

    def asked(program: str, *texts: str) -> dict[str, Any]:
        interpreter = "node" if program.endswith(".mjs") else "python"
        printed = run(environment / "bin" / interpreter, CALLS / program, service.url, key, *texts)
        said: dict[str, Any] = json.loads(printed)
        return said

    return asked


def score_of(service: Service, key: str, text: str, category: str = "toxicity") -> float:
    """The score that our own shape gives."""
    sent = {"data": {"type": "scores", "attributes": {"texts": [text], "categories": [category]}}}
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx.post(f"{service.url}/api/public/v1/scores", json=sent, headers=headers)
    ((result,),) = [one["scores"] for one in answer.json()["data"]["attributes"]["results"]]
    score: float = result["score"]
    return score


def test_openais_package_reads_moderations_and_errors(ask: Ask, service: Service, key: str) -> None:
    said = ask("openai_moderations.py", INSULT, HARMLESS)
    assert said["flagged"] == [True, False]
    assert said["harassment"] == [score_of(service, key, text) for text in (INSULT, HARMLESS)]
    assert (said["one"], said["parts"]) == (1, 1)
    assert said["model"].startswith("bridgenote-")
    assert said["applied"]["harassment"] == ["text"]
    assert said["applied"]["illicit"] == said["applied"]["violence/graphic"] == []
    assert (said["image"]["kind"], said["image"]["param"]) == ("BadRequestError", "input")
    assert (said["wrong"]["kind"], said["wrong"]["code"]) == ("AuthenticationError", "invalid_api_key")


def test_googles_client_builds_both_calls_from_our_document(ask: Ask, service: Service, key: str) -> None:
    said = ask("google_comments.py", INSULT)
    toxicity = said["analyzed"]["attributeScores"]["TOXICITY"]["summaryScore"]
    assert toxicity == {"value": score_of(service, key, INSULT), "type": "PROBABILITY"}
    assert said["analyzed"]["languages"] == said["suggested"]["requestedLanguages"] == ["en"]
    assert said["unknown"]["status"] == 400
    assert said["unknown"]["said"] == "Unknown requested attribute: LIKELY_TO_REJECT"
    assert said["unknown"]["details"][0]["errorType"] == "INVALID_REQUEST"
    assert said["wrong"]["status"] == 401


def test_corals_calls_are_answered(ask: Ask, service: Service, key: str) -> None:
    said = ask("coral.mjs", INSULT)
    analyzed, suggested = said["analyzed"], said["suggested"]
    assert analyzed["status"] == 200
    score = analyzed["data"]["attributeScores"]["TOXICITY"]["summaryScore"]["value"]
    assert score == score_of(service, key, INSULT)
    assert (suggested["status"], suggested["data"]["clientToken"]) == (200, "comment:7")
    assert said["wrong"]["status"] == 401
    assert key[-43:] not in service.log.read_text()
