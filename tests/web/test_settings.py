"""Settings of one's own."""

from collections.abc import Callable

import pytest

from app.core.models import Account
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.web.conftest import Visitor

Visit = Callable[[Person | None], Visitor]


def test_preferences_are_kept_and_used(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    visitor = visit(cast.rater)
    reply = visitor.post("/settings", theme="dark", timezone="Europe/Paris", content_warnings="y")
    assert reply.status_code == 303
    with wiring.database.reading() as session:
        account = session.get_one(Account, cast.rater.account_id)
        assert (account.theme, account.timezone) == ("dark", "Europe/Paris")
        assert (account.shortcuts, account.content_warnings) == (False, True)
    text = visitor.get("/settings").text
    assert 'data-theme="dark"' in text
    assert 'data-keys="off"' in text
    assert "Your settings are saved." in text


@pytest.mark.parametrize(
    "fields", [{"theme": "pink"}, {"timezone": "Mars/Base"}, {"timezone": "../etc/passwd"}]
)
def test_nonsense_is_refused(visit: Visit, cast: Cast, wiring: Wiring, fields: dict[str, str]) -> None:
    reply = visit(cast.rater).post("/settings", **{"theme": "light", "timezone": "UTC"} | fields)
    assert reply.status_code == 422
    with wiring.database.reading() as session:
        assert session.get_one(Account, cast.rater.account_id).theme == "system"
