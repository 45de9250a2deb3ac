"""Datasets: files are read, reported on and imported; fact-checks are found, retired, and shown with their posts."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import limits
from app.core.factcheck import items
from app.core.factcheck.feed_fetches import Fetched
from app.core.models import Account, Action, DatasetFeed, DatasetImport, FactCheckItem, HistoryEntry, Request
from app.core.vocabulary import HelpfulnessLevel
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visitor

Visit = Callable[[Person | None], Visitor]
GOOD = {
    "claim": "The moon is a lamp",
    "rating": "False",
    "url": "https://example.org/moon",
    "publisher": "Example Checks",
    "dataset_name": "moon",
    "item_id": "1",
}


def upload(lines: list[object]) -> tuple[io.BytesIO, str]:
    return io.BytesIO("\n".join(json.dumps(line) for line in lines).encode()), "items.jsonl"


def send(visitor: Visitor, jobs: InlineEngine, file: tuple[io.BytesIO, str], **fields: Any) -> str:
    """Upload a file, let the jobs run, and return the page of the import."""
    sent = visitor.post("/datasets", file=file, **fields)
    assert sent.status_code == 303, sent.text
    jobs.run_all()
    page: str = visitor.get(sent.headers["Location"]).text
    return page


def path_of(wiring: Wiring) -> str:
    with wiring.database.reading() as session:
        found = session.scalars(sa.select(DatasetImport.id).order_by(DatasetImport.id.desc())).first()
        return f"/datasets/imports/{found}"


def count(wiring: Wiring) -> int:
    with wiring.database.reading() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(FactCheckItem)) or 0


def test_a_file_is_checked_imported_and_listed(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = visit(cast.operator)
    assert "No datasets yet" in operator.get("/datasets").text
    assert "Choose a file." in operator.post("/datasets").text
    with monkeypatch.context() as smaller:
        smaller.setattr(limits, "DATASET_FILE_BYTES", 1_000)
        large = (io.BytesIO(b" " * 1_001), "large.jsonl")
        assert "The file must be at most" in operator.post("/datasets", file=large).text
        much_larger = operator.post("/datasets", file=(io.BytesIO(b"<html>" + b" " * 100_000), "page.html"))
        assert much_larger.status_code == 413
        assert limits.DATASET_FILE_TOO_LARGE in much_larger.text
    empty = operator.post("/datasets", file=upload([]))
    assert empty.status_code == 422
    assert "The file holds no fact-checks." in empty.text

    bad = send(operator, jobs, upload([GOOD, {**GOOD, "item_id": "2", "url": "nowhere"}, 7]))
    assert "Read, not imported yet" in bad
    assert '<strong>Line 2</strong>: <span dir="auto">url must be an address' in bad
    assert '<strong>Line 3</strong>: <span dir="auto">row must be an object' in bad
    assert count(wiring) == 0, "one bad line, and nothing is imported until somebody has seen the report"
    assert operator.post(f"{path_of(wiring)}/store").status_code == 303
    jobs.run_all()
    assert count(wiring) == 1
    assert "Imported: 1 new, 0 changed, 0 unchanged, 2 refused." in operator.get(path_of(wiring)).text
    assert operator.post(f"{path_of(wiring)}/store").status_code == 409

    checked = send(operator, jobs, upload([{**GOOD, "rating": "Odd"}]), check="1")
    assert "0 new, 1 changed, 0 unchanged. Nothing is imported yet." in checked
    assert "<bdi>Odd</bdi> (1 fact-check)" in checked
    assert operator.post(f"{path_of(wiring)}/stop").status_code == 303

    done = send(operator, jobs, upload([{**GOOD, "item_id": "3"}, {"claim": 1}]), skip_bad="y")
    assert "Imported: 1 new" in done
    page = operator.get("/datasets").text
    assert "moon" in page
    assert page.count("items.jsonl") == 3
    with wiring.database.reading() as session:
        entries = session.scalars(
            sa.select(HistoryEntry)
            .where(HistoryEntry.what == "dataset.imported")
            .order_by(HistoryEntry.number)
        ).all()
        assert [(entry.after["new"], entry.after["refused"]) for entry in entries] == [(1, 2), (1, 1)]


def test_a_report_says_which_dates_were_not_read_and_utf_16_is_refused_at_once(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine
) -> None:
    operator = visit(cast.operator)
    dated = [{**GOOD, "reviewed_on": "12 March 2024"}, {**GOOD, "item_id": "2", "reviewed_on": "<some> day"}]
    report = send(operator, jobs, upload(dated))
    assert "Imported: 2 new, 0 changed, 0 unchanged." in report
    assert "Dates that could not be read" in report
    assert '<strong>Line 2</strong>: <span dir="auto">its date cannot be read: &lt;some&gt; day' in report
    assert "Line 1" not in report
    refused = operator.post("/datasets", file=(io.BytesIO(json.dumps(GOOD).encode("utf-16")), "items.jsonl"))
    assert refused.status_code == 422
    assert "The file is UTF-16. Save it as UTF-8." in refused.text


def test_the_progress_is_polled_and_stands_on_the_page_without_script(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine
) -> None:
    operator = visit(cast.operator)
    assert operator.post("/datasets", file=upload([GOOD])).status_code == 303
    path = path_of(wiring)
    page = operator.get(path).text
    assert "<progress" in page
    assert f'href="{path}"' in page, "without script it is reloaded"
    assert operator.get(f"{path}/progress?seen=reading-0-0-0", **HTMX).status_code == 204
    jobs.run_all()
    part = operator.get(f"{path}/progress?seen=reading-0-0-0", **HTMX)
    assert part.status_code == 200
    assert "Imported: 1 new" in part.text
    assert '<div id="status" hx-swap-oob="innerHTML"><p class="toast">Imported.</p>' in part.text, (
        "not being read"
    )
    assert "hx-get" not in part.text, "it polls no more"


def test_the_columns_of_a_csv_file_are_guessed_and_chosen(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine
) -> None:
    operator = visit(cast.operator)
    table = (
        'Was behauptet wird,Urteil,Link\n"Die Erde, sie ist flach",Größtenteils falsch,https://a.example/\n'
    )
    page = send(operator, jobs, (io.BytesIO(table.encode()), "checks.csv"))
    assert "Waits for its columns" in page
    assert "Die Erde, sie ist flach" in page
    assert '<option selected value="Urteil">' in page, "the rating's column is guessed"
    chosen = {"rating": "Urteil", "url": "Link"}
    refused = operator.post(f"{path_of(wiring)}/columns", **chosen, publisher_for_all="P")
    assert refused.status_code == 422
    assert "Claim needs a column." in refused.text
    assert "Dataset needs a column, or a name for all rows." in refused.text
    chosen |= {"claim": "Was behauptet wird", "publisher_for_all": "P", "dataset_for_all": "erde"}
    assert operator.post(f"{path_of(wiring)}/columns", **chosen).status_code == 303
    assert operator.post(f"{path_of(wiring)}/columns", **chosen).status_code == 409
    jobs.run_all()
    assert "Import 1 fact-check" in operator.get(path_of(wiring)).text
    operator.post(f"{path_of(wiring)}/store")
    jobs.run_all()
    with wiring.database.reading() as session:
        item = session.scalars(sa.select(FactCheckItem)).one()
        said = (item.claim, item.rating, item.rating_given, item.dataset_name, item.publisher)
        assert said == ("Die Erde, sie ist flach", "mostly_false", "Größtenteils falsch", "erde", "P")


def test_the_sample_files_can_be_imported(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine
) -> None:
    operator = visit(cast.operator)
    table = operator.get("/datasets/sample.csv")
    assert 'filename="fact-checks.csv"' in table.headers["Content-Disposition"]
    assert len(list(csv.reader(io.StringIO(table.text)))) == 3
    lines = operator.get("/datasets/sample.jsonl").data
    assert "Imported: 2 new" in send(operator, jobs, (io.BytesIO(lines), "sample.jsonl"))
    send(operator, jobs, (io.BytesIO(table.data), "sample.csv"))
    with wiring.database.reading() as session:
        found = session.scalars(sa.select(DatasetImport).order_by(DatasetImport.id.desc())).first()
        assert found is not None
        assert set(found.columns) == set(GOOD) | {"title", "language", "reviewed_on"}


@pytest.mark.both_databases
def test_fact_checks_are_found_by_words_dataset_and_rating(
    visit: Visit, cast: Cast, jobs: InlineEngine
) -> None:
    operator = visit(cast.operator)
    cheese = {
        **GOOD,
        "claim": "100% of the moon_cheese is old",
        "item_id": "2",
        "rating": "Odd",
        "dataset_name": "b",
    }
    send(operator, jobs, upload([GOOD, cheese]))

    def found(query: str) -> list[bool]:
        page = operator.get(f"/datasets?{query}").text
        return ["The moon is a lamp" in page, "moon_cheese" in page]

    assert found("") == [True, True]
    assert found("q=LAMP+moon") == [True, False]
    assert found("q=moon_") == [False, True]
    assert found("q=100%25") == [False, True]
    assert found("dataset=b") == [False, True]
    assert found("rating=false") == [True, False]
    assert found("rating=unknown") == [False, True]
    assert found("rating=retired") == [False, False]
    assert found("q=%00&page=99999999999999999999&rating=x&dataset=%00") == [True, True]
    assert 'href="/datasets?q=LAMP"' in operator.get("/datasets?q=LAMP&rating=false").text, (
        "the chip of the rating"
    )


@pytest.mark.both_databases
def test_an_item_shows_the_posts_it_matched_and_how_members_judged_them(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine, stage: Stage
) -> None:
    operator = visit(cast.operator)
    send(operator, jobs, upload([GOOD]))
    open_id, decided_id, away_id = (
        stage.post("Open one"),
        stage.post("Decided one"),
        stage.post("Away", away=True),
    )
    stage.rate(open_id, HelpfulnessLevel.HELPFUL)
    stage.rate(decided_id, *[HelpfulnessLevel.HELPFUL] * 4)
    with wiring.database.writing() as session:
        for action_id in (open_id, decided_id, away_id):
            request = session.get_one(Request, session.get_one(Action, action_id).request_id)
            request.dataset_name, request.dataset_item_id, request.similarity_score = "moon", "1", 0.91
        session.execute(sa.update(Action).where(Action.id == decided_id).values(action_state="dismissed"))
        item_id = session.scalars(sa.select(FactCheckItem.id)).one()
    page = operator.get(f"/datasets/items/{item_id}").text
    assert "2 posts of your community" in page
    assert "Open one" in page
    assert "Away" not in page
    assert "Yes 4, No 0, Not sure 0" in page
    assert "Yes 1" not in page, "an open item shows nobody's answers"

    assert operator.post(f"/datasets/items/{item_id}/retire").status_code == 303
    assert "Retired: it matches no new post" in operator.get(f"/datasets/items/{item_id}").text
    assert operator.post(f"/datasets/items/{item_id}/retire").status_code == 409
    assert operator.post(f"/datasets/items/{item_id}/bring-back").status_code == 303
    assert "Decided one" in operator.get(f"/datasets/items/{item_id}").text


def test_a_feed_is_added_fetched_and_its_failures_stand_on_its_page(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine
) -> None:
    class Fetcher:
        answer = Fetched(json.dumps(GOOD).encode())

        def fetch(self, url: str, etag: str | None, last_modified: str | None) -> Fetched:
            return self.answer

    fetcher = wiring.feeds = Fetcher()
    operator = visit(cast.operator)
    settings = {"dataset_name": "moon", "hours": "6"}
    refused = operator.post("/datasets/feeds/new", url="https://10.1.2.3/feed", **settings)
    assert refused.status_code == 422
    assert "Address must not name a private or reserved address." in refused.text
    url = "https://feeds.example.org/all.json"
    added = operator.post("/datasets/feeds/new", url=url, **settings)
    assert operator.post("/datasets/feeds/new", url=url, **settings).status_code == 409
    jobs.run_all()
    assert count(wiring) == 1
    path = added.headers["Location"]
    assert "New content imported" in operator.get(path).text
    fetcher.answer = Fetched(problem="It redirects to http://10.0.0.1/, which must start with https://.")
    assert operator.post(f"{path}/look").status_code == 303
    jobs.run_all()
    for page in (operator.get(path).text, operator.get("/datasets").text):
        assert "Failed" in page
        assert "It redirects to http://10.0.0.1/, which must start with https://." in page
    fetcher.answer = Fetched(b'{"@type": "ClaimReview",')
    operator.post(f"{path}/look")
    jobs.run_all()
    for page in (operator.get(path).text, operator.get("/datasets").text):
        assert "The file is malformed JSON: expecting property name" in page, (
            "its import failed after the fetch"
        )
    assert "New content</td>" not in operator.get("/datasets").text
    assert operator.post(path, url=url, dataset_name="stars", hours="24").status_code == 303
    assert "Paused: it is not fetched." not in operator.get(path).text
    operator.post(f"{path}/pause", paused="1")
    assert "Paused: it is not fetched." in operator.get(path).text
    with wiring.database.writing() as session:
        feed = session.scalars(sa.select(DatasetFeed)).one()
        feed.serves_all = True
    shared = operator.get(path).text
    assert "only a service admin may change it" in shared
    assert f'action="{path}' not in shared, "nothing on the page changes it"
    assert operator.post(f"{path}/remove").status_code == 403
    with wiring.database.writing() as session:
        session.get_one(DatasetFeed, feed.id).serves_all = False
    assert operator.post(f"{path}/remove").status_code == 303
    assert operator.get(path).status_code == 404
    assert count(wiring) == 1, "its fact-checks stay"


def test_what_an_operator_imports_serves_their_community_alone_and_a_service_admins_everybody(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine
) -> None:
    claim = "Drinking tea every morning makes bridges collapse within weeks"

    def served() -> list[bool]:
        with wiring.database.reading() as session:
            return [
                items.find(session, claim, community_id) is not None
                for community_id in (cast.community_id, cast.other_community_id)
            ]

    operator = visit(cast.operator)
    send(operator, jobs, upload([{**GOOD, "claim": claim}]))
    assert served() == [True, False]
    assert "This community" in operator.get("/datasets").text
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    admin = visit(cast.admin)
    send(admin, jobs, upload([{**GOOD, "claim": claim}]))
    assert served() == [True, True]
    other = send(operator, jobs, upload([{**GOOD, "claim": "Something else is made of cheese and sold"}]))
    assert "1 not of this community" in other
    assert served() == [True, True]
    with wiring.database.reading() as session:
        item_id = session.scalars(sa.select(FactCheckItem.id)).one()
    assert operator.post(f"/datasets/items/{item_id}/retire").status_code == 403
