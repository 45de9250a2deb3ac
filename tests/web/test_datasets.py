"""Datasets: files of fact-checks are imported, or say line by line what is wrong."""

import io
import json
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from app.core import limits
from app.core.factcheck import items
from app.core.models import Account, FactCheckItem, HistoryEntry
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.web.conftest import Visitor

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


def test_a_file_is_checked_imported_and_listed(
    visit: Visit, cast: Cast, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = visit(cast.operator)
    assert "No datasets yet" in operator.get("/datasets").text
    assert "Choose a file." in operator.post("/datasets").text

    bad = operator.post("/datasets", file=upload([GOOD, {**GOOD, "item_id": "2", "url": "nowhere"}, 7]))
    assert bad.status_code == 422
    assert "Line 2: url must be an address" in bad.text
    assert "Line 3: row must be an object" in bad.text
    with monkeypatch.context() as smaller:
        smaller.setattr(limits, "DATASET_FILE_BYTES", 1_000)
        large = (io.BytesIO(b" " * 1_001), "large.jsonl")
        assert "The file must be at most" in operator.post("/datasets", file=large).text
    assert "The file holds no items." in operator.post("/datasets", file=upload([])).text

    checked = operator.post("/datasets", file=upload([{**GOOD, "rating": "Odd"}]), check="1")
    assert checked.status_code == 200
    assert "The file can be imported: 1 item." in checked.text
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(FactCheckItem)) == 0

    done = operator.post("/datasets", file=upload([GOOD, {"claim": 1}]), skip_bad="y")
    assert done.status_code == 303
    page = operator.get("/datasets").text
    assert "Imported: 1 new, 0 changed, 0 unchanged. 1 line left out." in page
    assert "moon" in page
    assert operator.post("/datasets", file=upload([GOOD])).status_code == 303
    assert "0 new, 0 changed, 1 unchanged" in operator.get("/datasets").text
    with wiring.database.reading() as session:
        entries = session.scalars(
            sa.select(HistoryEntry).where(HistoryEntry.what == "dataset.imported")
        ).all()
        assert [entry.after["new"] for entry in entries] == [1, 0]


def test_what_an_operator_imports_serves_their_community_alone_and_a_service_admins_everybody(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    claim = "Drinking tea every morning makes bridges collapse within weeks"

    def served() -> list[bool]:
        with wiring.database.reading() as session:
            return [
                items.find(session, claim, community_id) is not None
                for community_id in (cast.community_id, cast.other_community_id)
            ]

    operator = visit(cast.operator)
    operator.post("/datasets", file=upload([{**GOOD, "claim": claim}]))
    assert served() == [True, False]
    assert "This community" in operator.get("/datasets").text
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    admin = visit(cast.admin)
    admin.post("/datasets", file=upload([{**GOOD, "claim": claim}]))
    assert served() == [True, True]
    operator.post("/datasets", file=upload([{**GOOD, "claim": "Something else is made of cheese and sold"}]))
    assert "1 belong to somebody else" in operator.get("/datasets").text
    assert served() == [True, True]
