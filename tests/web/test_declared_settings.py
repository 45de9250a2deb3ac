"""A setting that is declared is in the form, the checks, the history and the documentation, without more code."""

from collections.abc import Callable
from dataclasses import asdict, make_dataclass

import pytest

from app.commands import settings_table
from app.core.communities import settings as community_settings
from app.core.communities.declarations import Section, Setting, declare, declared
from app.core.communities.settings import SETTINGS, CommunitySettings
from app.core.models import Community
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.web.conftest import Visitor
from tests.web.test_community import as_form, told

Visit = Callable[[Person | None], Visitor]
QUIET = declare(
    8, Section.BURSTS, "Quiet hours", "Nobody is asked for so long.", bounds=(0, 24), optional=True
)


@pytest.fixture
def extended(monkeypatch: pytest.MonkeyPatch, wiring: Wiring) -> None:
    """The settings with one more."""
    one_more = make_dataclass(
        "Extended", [("quiet_hours", int, QUIET)], bases=(CommunitySettings,), frozen=True
    )
    monkeypatch.setitem(SETTINGS, "quiet_hours", declared(one_more)["quiet_hours"])
    given = wiring.database.info[community_settings.DEFAULTS]
    monkeypatch.setitem(wiring.database.info, community_settings.DEFAULTS, one_more(**asdict(given)))


@pytest.mark.usefixtures("extended")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_setting_that_is_declared_is_everywhere(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    page = operator.get("/community/bursts").text
    assert "Quiet hours" in page
    assert "0 to 24. Nobody is asked for so long." in page
    refused = operator.post("/community/bursts", **as_form(wiring, cast, Section.BURSTS, quiet_hours="25"))
    assert refused.status_code == 422
    assert "Quiet hours must be a whole number from 0 to 24." in refused.text
    assert (
        operator.post(
            "/community/bursts", **as_form(wiring, cast, Section.BURSTS, quiet_hours="6")
        ).status_code
        == 303
    )
    ((entry, _),) = told(wiring)
    assert (entry.before, entry.after) == ({"quiet_hours": 8}, {"quiet_hours": 6})
    with wiring.database.reading() as session:
        home = session.get_one(Community, cast.community_id)
        assert asdict(community_settings.read(session, home.id))["quiet_hours"] == 6
    assert "Quiet hours: 8 → 6" in operator.get("/history/settings").text
    assert "| Quiet hours | 8; from 0 to 24 | Nobody is asked for so long. |" in settings_table.as_markdown()


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.name)
def test_the_default_of_each_setting_is_one_that_it_takes(setting: Setting) -> None:
    setting.check(setting.default)
    assert setting.label
    assert setting.hint
