"""A second factor required by role: the grace with its banner, and then only the way to set one up."""

import re
import uuid

import pyotp
import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from app.commands.doctor import work
from app.commands.doctor.findings import State
from app.core import clock
from app.core.communities import sign_in_rules
from app.core.communities.declarations import Section
from app.core.errors import Forbidden
from app.core.models import Account, Community, Hold, SignIn
from app.core.people import accounts, second_factors
from app.core.permissions import SYSTEM
from app.core.vocabulary import Role
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast, Person
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visitor
from tests.web.test_community import as_form, in_force

pytestmark = pytest.mark.both_databases
DAY = 24 * 60
BANNER = 'id="factor-demand"'


def _ask(wiring: Wiring, community_id: uuid.UUID, role: str = "moderator") -> None:
    with wiring.database.writing() as session:
        community = session.get_one(Community, community_id)
        community.settings = {**community.settings, "factor_role": role}


def _ask_everywhere(wiring: Wiring, role: Role | None) -> None:
    with wiring.database.writing() as session:
        actor = accounts.actor_for(_service_admin(session))
        sign_in_rules.set_service_role(session, actor, role)


def _service_admin(session: Session) -> Account:
    found = session.scalars(sa.select(Account).where(Account.service_admin)).first()
    if found is None:
        found = accounts.create(session, "root@example.org", PASSWORD, confirmed=True, service_admin=True)
        session.flush()
    return accounts.get(session, found.id)


def _set_up_codes(wiring: Wiring, person: Person) -> None:
    with wiring.database.writing() as session:
        account = session.get_one(Account, person.account_id)
        secret = second_factors.begin_codes(session, wiring.sealer, account)
        code = pyotp.TOTP(secret).at(clock.now())
        assert second_factors.confirm_codes(session, wiring.sealer, account, code)


def _account(wiring: Wiring, person: Person) -> Account:
    with wiring.database.reading() as session:
        return session.get_one(Account, person.account_id)


def _stay_signed_in(wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        session.execute(sa.update(SignIn).values(created_at=clock.now(), last_seen_at=clock.now()))


def _pass_days(wiring: Wiring, days: int) -> None:
    advance(minutes=days * DAY + 1)
    _stay_signed_in(wiring)


def test_the_grace_begins_with_the_first_page_and_the_banner_says_by_when(
    moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    _ask(wiring, cast.community_id)
    assert _account(wiring, cast.moderator).two_step_asked_at is None
    page = moderator.get("/settings").text
    assert BANNER in page
    assert "Harbour forum" in page
    assert "asks moderators and up for a second factor" in re.sub(r"<[^>]+>", "", page)
    asked_at = _account(wiring, cast.moderator).two_step_asked_at
    assert asked_at is not None
    _pass_days(wiring, 6)
    assert moderator.get("/settings").status_code == 200
    assert _account(wiring, cast.moderator).two_step_asked_at == asked_at, "it begins once"


def test_then_every_page_leads_to_setting_one_up_until_it_is_done(
    moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    _ask(wiring, cast.community_id)
    moderator.get("/settings")
    _pass_days(wiring, 7)
    for path in ("/settings", "/review", "/people", "/me"):
        led = moderator.get(path)
        assert (led.status_code, led.location) == (303, "/security")
    _set_up_codes(wiring, cast.moderator)
    assert BANNER not in moderator.get("/settings").text


def test_signing_out_still_works(moderator: Visitor, wiring: Wiring, cast: Cast) -> None:
    _ask(wiring, cast.community_id)
    moderator.get("/settings")
    _pass_days(wiring, 7)
    assert moderator.post("/sign-out").location == "/sign-in"


def test_whom_the_rule_does_not_concern_it_asks_nothing(
    rater: Visitor, operator: Visitor, moderator: Visitor, outsider: Visitor, wiring: Wiring, cast: Cast
) -> None:
    _ask(wiring, cast.community_id, "operator")
    assert BANNER in operator.get("/settings").text
    for visitor in (rater, moderator, outsider):
        assert BANNER not in visitor.get("/settings").text


def test_one_role_in_one_community_is_enough(outsider: Visitor, wiring: Wiring, cast: Cast) -> None:
    _ask(wiring, cast.community_id)
    assert BANNER not in outsider.get("/settings").text, "they moderate another community"
    with wiring.database.writing() as session:
        account = accounts.get(session, cast.outsider.account_id)
        accounts.give_role(session, SYSTEM, account, cast.community_id, Role.RATER)
    assert BANNER not in outsider.get("/settings").text, "here they only rate"
    with wiring.database.writing() as session:
        account = accounts.get(session, cast.outsider.account_id, again=True)
        accounts.give_role(session, SYSTEM, account, cast.community_id, Role.MODERATOR)
    assert BANNER in outsider.get("/settings?community=mountain-forum").text


def test_the_service_asks_in_every_community(outsider: Visitor, rater: Visitor, wiring: Wiring) -> None:
    _ask_everywhere(wiring, Role.MODERATOR)
    assert "This service" in outsider.get("/settings").text
    assert BANNER not in rater.get("/settings").text
    _ask_everywhere(wiring, None)
    assert BANNER not in outsider.get("/settings").text


def test_a_rule_that_is_gone_is_forgotten_and_a_later_one_gives_its_own_grace(
    moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    _ask(wiring, cast.community_id)
    moderator.get("/settings")
    _ask(wiring, cast.community_id, "none")
    moderator.get("/settings")
    assert _account(wiring, cast.moderator).two_step_asked_at is None
    _pass_days(wiring, 30)
    _ask(wiring, cast.community_id)
    assert moderator.get("/settings").status_code == 200


def test_an_archived_community_asks_nothing(moderator: Visitor, wiring: Wiring, cast: Cast) -> None:
    _ask(wiring, cast.community_id)
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).archived_at = clock.now()
    assert BANNER not in moderator.get("/settings").text


def test_a_session_that_began_at_a_provider_needs_nothing(
    moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    _ask(wiring, cast.community_id)
    with wiring.database.writing() as session:
        session.execute(sa.update(SignIn).values(is_strong=True))
    assert BANNER not in moderator.get("/settings").text
    assert _account(wiring, cast.moderator).two_step_asked_at is None


def test_a_form_is_given_back_and_goes_through_afterwards(
    moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    _ask(wiring, cast.community_id)
    moderator.get("/settings")
    _pass_days(wiring, 7)
    answer = moderator.post("/settings", display_name="A new name of mine")
    assert answer.status_code == 403
    assert "A new name of mine" in answer.text
    assert _account(wiring, cast.moderator).display_name != "A new name of mine"
    _set_up_codes(wiring, cast.moderator)
    assert moderator.post("/settings", display_name="A new name of mine").status_code == 303


def test_parts_of_a_page_lead_there_too_and_polls_stop(
    moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    _ask(wiring, cast.community_id)
    moderator.get("/settings")
    _pass_days(wiring, 7)
    part = moderator.get("/help-needed", **HTMX)
    assert (part.status_code, part.headers["HX-Redirect"]) == (403, "/security")
    poll = moderator.get("/review/new-count", **HTMX)
    assert poll.status_code == 286
    assert "/security" in poll.text


def test_a_decision_that_is_held_is_carried_out(
    moderator: Visitor, wiring: Wiring, cast: Cast, stage: Stage, jobs: InlineEngine
) -> None:
    action_id = stage.post()
    _ask(wiring, cast.community_id)
    moderator.get("/settings")
    assert (
        moderator.post(
            f"/review/{action_id}/decide", verb="dismiss", reason="Fine as it is", version="1"
        ).status_code
        < 400
    )
    _pass_days(wiring, 7)
    assert moderator.get("/review").location == "/security"
    with wiring.database.reading() as session:
        held = session.scalar(sa.select(sa.func.count()).select_from(Hold))
    assert held == 1
    jobs.run_all(delayed=True)
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Hold)) == 0


def test_keys_are_not_concerned(client: FlaskClient, wiring: Wiring, cast: Cast) -> None:
    _ask(wiring, cast.community_id, "admin")
    _ask_everywhere(wiring, Role.MODERATOR)
    assert client.get("/api/public/v1/requests", headers=cast.headers).status_code == 200


def test_only_admins_change_the_rule_of_a_community(
    operator: Visitor, admin: Visitor, wiring: Wiring, cast: Cast
) -> None:
    assert 'name="factor_role"' in admin.get("/community/sign-in").text
    refused = operator.post(
        "/community/sign-in", **as_form(wiring, cast, Section.SIGN_IN, factor_role="admin")
    )
    assert refused.status_code == 403
    assert in_force(wiring, cast)["factor_role"] == "none"
    assert operator.post("/community", **as_form(wiring, cast, name="A new name")).status_code == 303


def test_an_admin_who_changes_it_proves_who_they_are(admin: Visitor, wiring: Wiring, cast: Cast) -> None:
    assert admin.token
    advance(minutes=11)
    typed = as_form(wiring, cast, Section.SIGN_IN, factor_role="admin")
    asked = admin.post("/community/sign-in", **typed)
    assert asked.status_code == 401
    assert in_force(wiring, cast)["factor_role"] == "none"
    assert admin.post("/community/sign-in", **typed, proof_password=PASSWORD).status_code == 303
    assert in_force(wiring, cast)["factor_role"] == "admin"
    advance(minutes=11)
    plain = as_form(wiring, cast, name="Another name")
    assert admin.post("/community", **plain).status_code == 303, "nothing else asks"


def test_people_says_who_lacks_one_and_lists_them(admin: Visitor, wiring: Wiring, cast: Cast) -> None:
    plain = admin.get("/people").text
    assert "No second factor" not in plain
    _ask(wiring, cast.community_id)
    _set_up_codes(wiring, cast.operator)
    page = admin.get("/people").text
    assert page.count(">No second factor</span>") == 2, "the moderator and the admin"
    listed = admin.get("/people?factor=none").text
    assert "moderator@example.org" in listed
    assert "operator@example.org" not in listed
    assert "rater@example.org" not in listed
    assert re.search(r"State</span> <bdi>Required second factor is missing</bdi>", listed)


def test_doctor_counts_who_lacks_one(wiring: Wiring, cast: Cast) -> None:
    assert [one.state for one in work.second_factors(wiring)] == [State.OK]
    _ask(wiring, cast.community_id)
    (found,) = work.second_factors(wiring)
    assert (found.state, found.detail[:13]) == (State.WARN, "3 people have")
    for person in (cast.moderator, cast.operator, cast.admin):
        _set_up_codes(wiring, person)
    assert [one.state for one in work.second_factors(wiring)] == [State.OK]


def test_only_a_service_admin_sets_the_rule_of_the_service(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        actor = accounts.actor_for(accounts.get(session, cast.admin.account_id))
        with pytest.raises(Forbidden):
            sign_in_rules.set_service_role(session, actor, Role.ADMIN)


def test_a_service_admin_sets_it_for_every_community(
    admin: Visitor, moderator: Visitor, wiring: Wiring, cast: Cast
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    said = admin.post("/sign-in-methods/second-factor", factor_role="moderator")
    assert (said.status_code, said.location) == (303, "/sign-in-methods")
    page = admin.get("/sign-in-methods").text
    assert "Second factor or passkey: Moderators and up." in page
    assert BANNER in moderator.get("/settings").text
    admin.post("/sign-in-methods/second-factor", factor_role="everyone")
    assert BANNER in moderator.get("/settings").text, "what is no role changes nothing"
    admin.post("/sign-in-methods/second-factor", factor_role="none")
    assert BANNER not in moderator.get("/settings").text
