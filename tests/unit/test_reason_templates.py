"""Reasons that moderators choose: one of a title, and only so many in use."""

import pytest

from app.core import limits
from app.core.errors import Invalid
from app.core.permissions import SYSTEM
from app.core.review import reason_templates
from app.core.review.reason_templates import ReasonDraft
from app.wiring import Wiring
from tests.cast import Cast

pytestmark = pytest.mark.both_databases


@pytest.mark.parametrize(("first", "second"), [("Ärger", "ÄRGER"), ("Straße", "STRASSE"), ("Спам", "спам")])
def test_a_title_is_taken_however_its_letters_are_written(
    wiring: Wiring, cast: Cast, first: str, second: str
) -> None:
    with wiring.database.writing() as session:
        reason = reason_templates.add(session, SYSTEM, cast.community_id, ReasonDraft(first, "Text"))
        with pytest.raises(Invalid, match="another reason's already"):
            reason_templates.add(session, SYSTEM, cast.community_id, ReasonDraft(second, "Text"))
        revised = reason_templates.revise(session, SYSTEM, reason.id, ReasonDraft(second, "Text"))
        assert revised.title == second


def test_a_restored_reason_counts_as_an_added_one(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REASONS", limits.REASONS._replace(number=2))
    with wiring.database.writing() as session:
        first, _ = (
            reason_templates.add(session, SYSTEM, cast.community_id, ReasonDraft(title, "Text"))
            for title in ("One", "Two")
        )
        reason_templates.set_active(session, SYSTEM, first.id, False)
        third = reason_templates.add(session, SYSTEM, cast.community_id, ReasonDraft("Three", "Text"))
        with pytest.raises(Invalid, match="cannot be added: a community has at most 2 reasons in use"):
            reason_templates.set_active(session, SYSTEM, first.id, True)
        reason_templates.set_active(session, SYSTEM, third.id, False)
        assert reason_templates.set_active(session, SYSTEM, first.id, True).active
