"""What is kept of a person: asked for, followed, mailed, fetched by them alone, gone after a day or with them."""

import json
import uuid

import pytest
import sqlalchemy as sa

from app.core import bulk
from app.core.models import OwnDataFile, SavedFilter
from app.core.people import members, own_data_files
from app.core.permissions import SYSTEM
from app.core.upkeep import erasure
from app.jobs import own_data, registry, upkeep
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Visit, Visitor
from tests.web.mailbox import Mailbox

pytestmark = pytest.mark.both_databases

URL = "/settings/my-data"
FILE, PROGRESS = f"{URL}.json", f"{URL}/progress"


def _files(wiring: Wiring) -> list[uuid.UUID]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(OwnDataFile.id)))


def _ready(rater: Visitor, jobs: InlineEngine) -> None:
    assert rater.post(URL).status_code == 303
    jobs.run_all()


def test_a_person_asks_follows_gets_a_mail_and_fetches_the_file(
    rater: Visitor, wiring: Wiring, mailbox: Mailbox
) -> None:
    assert "Make the file" in rater.get(URL).text
    assert rater.get(FILE).status_code == 404
    asked = rater.post(URL)
    assert (asked.status_code, asked.location) == (303, URL)
    assert "Your file is being made" in rater.get(URL).text
    assert rater.get(FILE).status_code == 404
    assert rater.get(PROGRESS, **HTMX).status_code == 204

    (mail,) = mailbox.all("rater@example.org")
    assert mail["Subject"] == "What is kept of you is ready"
    assert f"{wiring.settings.base_url}{URL}" in mail.get_content().splitlines()
    assert ".json" not in mail.get_content()
    part = rater.get(PROGRESS, **HTMX)
    assert (part.status_code, "<html" in part.text, "Download as JSON" in part.text) == (200, False, True)
    assert "hx-get" not in part.text
    assert "Your file is ready." in part.text
    assert "Download as JSON" in rater.get(URL).text
    fetched = rater.get(FILE)
    assert fetched.is_streamed
    assert fetched.headers["Content-Disposition"].startswith('attachment; filename="bridgenote-')
    assert "no-store" in fetched.headers["Cache-Control"]
    assert [row["email"] for row in json.loads(fetched.text)["account"]] == ["rater@example.org"]


def test_asking_twice_gives_the_same_file_until_it_is_made(
    rater: Visitor, wiring: Wiring, jobs: InlineEngine, mailbox: Mailbox
) -> None:
    rater.post(URL)
    (first,) = _files(wiring)
    rater.post(URL)
    assert _files(wiring) == [first]
    jobs.run_all()
    rater.post(URL)
    (second,) = _files(wiring)
    assert second != first
    own_data.make(wiring.database, first)  # the job of the earlier file, run again
    assert rater.get(FILE).status_code == 404
    assert len(mailbox.all("rater@example.org")) == 2
    own_data.make(wiring.database, second)
    assert len(mailbox.all("rater@example.org")) == 2
    assert rater.get(FILE).status_code == 200


def test_no_one_else_gets_the_file_nor_its_person_when_signed_out(
    visit: Visit, cast: Cast, rater: Visitor, jobs: InlineEngine
) -> None:
    _ready(rater, jobs)
    for other in (cast.admin, cast.moderator):
        visitor = visit(other)
        assert visitor.get(FILE).status_code == 404
        assert "Make the file" in visitor.get(URL).text
    assert visit(None).get(FILE).status_code == 303
    assert rater.get(FILE).status_code == 200
    rater.post("/sign-out")
    assert rater.get(FILE).status_code == 303


def test_a_file_is_kept_for_a_day_and_then_removed(
    visit: Visit, cast: Cast, rater: Visitor, wiring: Wiring, jobs: InlineEngine
) -> None:
    _ready(rater, jobs)
    advance(hours=23)
    upkeep.sweep(wiring)
    assert visit(cast.rater).get(FILE).status_code == 200
    advance(hours=2)
    again = visit(cast.rater)
    assert again.get(FILE).status_code == 404
    assert "Make the file" in again.get(URL).text
    assert len(_files(wiring)) == 1
    upkeep.sweep(wiring)
    assert _files(wiring) == []


@pytest.mark.parametrize("is_made", [True, False])
@pytest.mark.parametrize("how", ["erased", "disabled"])
def test_a_file_goes_with_its_person_and_a_job_that_still_runs_brings_none_back(
    how: str, is_made: bool, rater: Visitor, cast: Cast, wiring: Wiring, jobs: InlineEngine, mailbox: Mailbox
) -> None:
    rater.post(URL)
    (file_id,) = _files(wiring)
    if is_made:
        jobs.run_all()
    with wiring.database.writing() as session:
        if how == "erased":
            gone = erasure.erase_account(session, SYSTEM, cast.rater.account_id).gone
            assert gone["own data files"] == 1
        else:
            members.set_disabled(session, SYSTEM, cast.rater.account_id, True, "Asked for it")
    assert _files(wiring) == []
    with wiring.database.writing() as session:
        own_data_files.keep(session, file_id, b"packed", {})
    jobs.run_all()
    assert _files(wiring) == []
    assert len(mailbox.all("rater@example.org")) == int(is_made)
    assert rater.get(FILE).status_code == 303


def test_a_file_that_fails_says_so_and_can_be_asked_for_again(
    rater: Visitor, wiring: Wiring, jobs: InlineEngine
) -> None:
    rater.post(URL)
    (failed,) = _files(wiring)
    registry.give_up(wiring, own_data_files.MAKE_JOB, {"file_id": str(failed)}, MemoryError())
    part = rater.get(PROGRESS, **HTMX)
    assert (part.status_code, "The file could not be made." in part.text) == (200, True)
    _ready(rater, jobs)
    assert rater.get(FILE).status_code == 200


def test_a_file_whose_job_never_ends_can_be_asked_for_again(
    visit: Visit, cast: Cast, rater: Visitor, wiring: Wiring
) -> None:
    rater.post(URL)
    lost = _files(wiring)
    advance(hours=1, minutes=1)
    again = visit(cast.rater)
    assert "The file could not be made." in again.get(URL).text
    again.post(URL)
    assert _files(wiring) != lost
    assert "Your file is being made" in again.get(URL).text


def test_a_large_file_is_read_in_parts(
    rater: Visitor, cast: Cast, wiring: Wiring, jobs: InlineEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_data_files, "SLICE", 1000)
    names = [uuid.uuid4().hex for _number in range(1_200)]
    with wiring.database.writing() as session:
        mine = {
            "community_id": cast.community_id,
            "account_id": cast.rater.account_id,
            "query": {},
            "shared": False,
        }
        table = SavedFilter.__table__
        assert isinstance(table, sa.Table)
        rows = [{"id": uuid.uuid4(), "name": name, **mine} for name in names]
        bulk.insert(session.connection(), table, rows)
    _ready(rater, jobs)
    with wiring.database.reading() as session:
        size = session.scalar(sa.select(sa.func.length(OwnDataFile.content)))
        assert size is not None
        assert size > 20 * own_data_files.SLICE
    kept = json.loads(rater.get(FILE).text)
    assert sorted(row["name"] for row in kept["saved_filters"]) == sorted(names)


def test_no_session_is_kept_alive_by_a_page_that_waits(rater: Visitor, wiring: Wiring) -> None:
    rater.post(URL)
    advance(minutes=wiring.settings.session_idle_minutes, seconds=-5)
    assert rater.get(PROGRESS, **HTMX).status_code == 204
    advance(seconds=10)
    assert rater.get(PROGRESS, **HTMX).status_code == 286
