"""People: roles, leaving, accounts that are shut, invitations, profiles linked by hand; refusals, also in a race."""

import re
import threading
import uuid
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from app.core import clock, paging
from app.core.errors import Refused
from app.core.models import Account, HistoryEntry, HistoryText, Membership, Note, Profile, Rating
from app.core.notes import ratings
from app.core.people import accounts, members, profiles
from app.core.permissions import SYSTEM, Actor
from app.core.vocabulary import HelpfulnessLevel, Role
from app.wiring import Wiring
from tests.cast import PLATFORM, Cast, Person
from tests.web.conftest import Stage, Visit
from tests.web.factors import enter_password, set_codes_up
from tests.web.mailbox import Mailbox

URL = "/people?community=harbour-forum"


def membership(wiring: Wiring, person: Person, community_id: uuid.UUID) -> uuid.UUID:
    with wiring.database.reading() as session:
        found = sa.select(Membership.id).where(
            Membership.account_id == person.account_id, Membership.community_id == community_id
        )
        return session.scalars(found).one()


def role(wiring: Wiring, person: Person, community_id: uuid.UUID) -> Role | None:
    with wiring.database.reading() as session:
        found = sa.select(Membership.role).where(
            Membership.account_id == person.account_id, Membership.community_id == community_id
        )
        return session.scalar(found)


def told(wiring: Wiring, *what: str) -> list[tuple[str, dict[str, object], dict[str, object], str]]:
    with wiring.database.reading() as session:
        rows = session.execute(
            sa.select(HistoryEntry, HistoryText.reason)
            .join(HistoryText)
            .where(HistoryEntry.what.in_(what), HistoryText.reason != "")
            .order_by(HistoryEntry.number)
        )
        return [(entry.what, entry.before, entry.after, reason) for entry, reason in rows]


def test_roles_are_given_and_taken_with_a_reason_and_only_admins_do_it(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    home = cast.community_id
    rater = membership(wiring, cast.rater, home)
    for who, status in (("moderator", 403), ("operator", 403), ("outsider", 404)):
        visitor = visit(getattr(cast, who))
        assert visitor.get(URL).status_code == status, who
        for act in ("role", "remove", "disable", "enable", "link", "unlink", "remove-factors"):
            refused = visitor.post(f"/people/{rater}/{act}", role="moderator", reason="Mine")
            assert refused.status_code == status, (who, act)
    admin = visit(cast.admin)
    page = admin.get(URL).text
    assert page.index("rater@example.org") < page.index("admin@example.org")
    assert "moderator@example.org" not in admin.get(f"{URL}&q=RATER@").text
    assert "No member has this name" in admin.get(f"{URL}&q=100%25").text
    address = f"/people/{rater}"
    assert "Enter a reason." in admin.post(f"{address}/role", role="moderator", reason="").text
    assert admin.post(f"{address}/role", role="emperor", reason="Why not").status_code == 422
    assert admin.post(f"{address}/role", role="moderator", reason="Helped a lot").status_code == 303
    assert role(wiring, cast.rater, home) is Role.MODERATOR
    assert admin.post(f"{address}/disable", reason="Mine").status_code == 403
    assert admin.post(f"{address}/remove", reason="Moved away").status_code == 303
    assert role(wiring, cast.rater, home) is None
    assert admin.get(address).status_code == 404
    assert told(wiring, "role.given", "role.taken") == [
        ("role.given", {"role": "rater"}, {"role": "moderator"}, "Helped a lot"),
        ("role.taken", {"role": "moderator"}, {"role": None}, "Moved away"),
    ]
    page = admin.get(URL).text
    assert "Role: rater → moderator" in page
    assert "Moved away" in page


@pytest.mark.both_databases
def test_the_last_admin_stays_and_of_two_who_go_at_once_one_stays(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    home = cast.community_id
    mine = membership(wiring, cast.admin, home)
    admin = visit(cast.admin)
    for act in ("role", "remove"):
        refused = admin.post(f"/people/{mine}/{act}", role="rater", reason="Tired")
        assert (refused.status_code, "the last admin here" in refused.text) == (409, True), act
        assert "Tired" in refused.text
    with wiring.database.writing() as session:
        second = session.get_one(Account, cast.operator.account_id)
        accounts.give_role(session, SYSTEM, second, home, Role.ADMIN)
    pairs = {cast.admin.account_id: cast.operator, cast.operator.account_id: cast.admin}
    # Each takes the other's role away, and then each their own: one admin is left both times.
    for whose in (lambda me: pairs[me], lambda me: next(p for p in pairs.values() if p.account_id == me)):
        with wiring.database.writing() as session:
            for account_id in pairs:
                account = session.get_one(Account, account_id)
                accounts.give_role(session, SYSTEM, account, home, Role.ADMIN)
        together, refusals = threading.Barrier(2), []

        def go(account_id: uuid.UUID, target: uuid.UUID) -> None:
            with wiring.database.reading() as session:
                actor = accounts.actor_for(accounts.get(session, account_id))
            together.wait()  # noqa: B023 - both threads end before the next round
            try:
                with wiring.database.writing() as session:
                    members.change_role(session, actor, target, Role.RATER, "Race")
            except Refused as refusal:
                refusals.append(refusal)  # noqa: B023

        threads = [
            threading.Thread(target=go, args=(one, membership(wiring, whose(one), home))) for one in pairs
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        admins = [one for one in (cast.admin, cast.operator) if role(wiring, one, home) is Role.ADMIN]
        assert (len(admins), len(refusals)) == (1, 1)


def test_a_service_admin_shuts_an_account_which_is_signed_out_at_once(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    admin, moderator = visit(cast.admin), visit(cast.moderator)
    address = f"/people/{membership(wiring, cast.moderator, cast.community_id)}"
    assert moderator.get("/review").status_code == 200
    assert admin.post(f"{address}/disable", reason="Stolen password").status_code == 303
    assert moderator.get("/review").status_code == 303
    assert admin.post(f"{address}/enable", reason="It is theirs again").status_code == 303
    assert moderator.get("/review").status_code == 303, "the session that ended stays ended"
    assert visit(cast.moderator).get("/review").status_code == 200
    own = admin.post(f"/people/{membership(wiring, cast.admin, cast.community_id)}/disable", reason="Bye")
    assert own.status_code == 409
    assert [row[0::3] for row in told(wiring, "account.disabled", "account.enabled")] == [
        ("account.disabled", "Stolen password"),
        ("account.enabled", "It is theirs again"),
    ]


def test_a_service_admin_removes_the_second_factors_of_who_lost_them(
    visit: Visit, cast: Cast, wiring: Wiring, mailbox: Mailbox
) -> None:
    set_codes_up(wiring, cast.moderator)
    address = f"/people/{membership(wiring, cast.moderator, cast.community_id)}"
    admin = visit(cast.admin)
    assert "Remove their factors" not in admin.get(address).text
    assert admin.post(f"{address}/remove-factors", reason="Lost").status_code == 403
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    assert "Remove their factors" in admin.get(address).text
    assert admin.post(f"{address}/remove-factors", reason="").status_code == 422
    assert enter_password(visit(None), cast.moderator).location.startswith("/sign-in/second-step")
    assert admin.post(f"{address}/remove-factors", reason="Lost the phone, called back").status_code == 303
    assert admin.post(f"{address}/remove-factors", reason="Again").status_code == 409
    assert enter_password(visit(None), cast.moderator).location == "/"
    assert "Your passkeys and codes were removed" in [
        mail["Subject"] for mail in mailbox.all(cast.moderator.email)
    ]
    assert [row[0::3] for row in told(wiring, "account.factors_removed")] == [
        ("account.factors_removed", "Lost the phone, called back"),
    ]
    assert "Second factors removed" in admin.get("/people").text


def test_somebody_is_invited_and_the_invitation_is_withdrawn(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    wiring.settings = wiring.settings.model_copy(update={"smtp_host": "mail.example.org"})
    admin = visit(cast.admin)
    assert admin.post("/people/invite", email="nobody", role="rater").status_code == 422
    assert admin.post("/people/invite", email="new@example.org", role="emperor").status_code == 422
    known = admin.post("/people/invite", email="rater@example.org", role="rater")
    assert (known.status_code, "a member of this community already" in known.text) == (422, True)
    assert visit(cast.operator).post("/people/invite", email="x@example.org", role="rater").status_code == 403
    named = {"email": "new@example.org", "role": "moderator", "reason": "Knows the harbour"}
    assert admin.post("/people/invite", **named).status_code == 303
    page = admin.get(URL).text
    assert "Knows the harbour" in page
    found = re.search(r"/people/invitations/([0-9a-f-]+)/withdraw", page)
    assert found
    assert "new@example.org" in page
    address = f"/people/invitations/{found.group(1)}/withdraw"
    assert visit(cast.outsider).post(address).status_code == 404
    for _ in range(2):  # the second time it is over already
        assert admin.post(address).status_code == 303
    assert "No invitation is waiting." in admin.get(URL).text
    wiring.throttle.enabled = True
    sent = [
        admin.post("/people/invite", email=f"{n}@example.org", role="rater").status_code for n in range(51)
    ]
    assert (sent[0], sent[-1]) == (303, 429), "no community of one's own is a way to mail the world"


def test_a_form_is_about_the_community_of_its_page_whatever_another_tab_chose(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        both = session.get_one(Account, cast.admin.account_id)
        accounts.give_role(session, SYSTEM, both, cast.other_community_id, Role.ADMIN)
    admin = visit(cast.admin)
    own = 'name="community" value="harbour-forum"'
    assert own in admin.get("/people?community=harbour-forum").text
    admin.get("/people?community=mountain-forum")
    sent = admin.post("/people/invite", email="new@example.org", role="admin", community="harbour-forum")
    assert sent.status_code == 200
    assert "new@example.org" in admin.get("/people?community=harbour-forum").text
    assert "new@example.org" not in admin.get("/people?community=mountain-forum").text
    assert (
        admin.post("/people/invite", email="x@example.org", role="rater", community="no").status_code == 404
    )
    for path in ("/people?q=%00", f"/people/{membership(wiring, cast.rater, cast.community_id)}?q=%00"):
        assert admin.get(path).status_code == 200, "PostgreSQL looks for no NUL"


@pytest.mark.both_databases
def test_a_profile_is_found_linked_and_unlinked_by_hand(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    with wiring.database.writing() as session:
        walt = profiles.ensure(session, PLATFORM, "user-77", "forum-1", display_name="Walter 100%")
        stranger = profiles.ensure(session, PLATFORM, "user-78", "forum-2", display_name="Walter abroad")
        for rater, community in ((walt, cast.community_id), (stranger, cast.other_community_id)):
            actor = Actor(kind="key", name="Adapter", profile_id=rater.id, communities=frozenset({community}))
            if rater is walt:
                note = session.get_one(Note, stage.rationale(action_id).id)
                ratings.rate(session, actor, note, rater, HelpfulnessLevel.HELPFUL)
        walt_id, stranger_id = walt.id, stranger.id
    admin = visit(cast.admin)
    address = f"/people/{membership(wiring, cast.rater, cast.community_id)}"
    page = admin.get(f"{address}?q=walter").text
    assert "Walter 100%" in page
    assert "Walter abroad" not in page
    assert "No profile that rated" in admin.get(f"{address}?q=100%25%25").text
    unknown = admin.post(f"{address}/link", profile=str(stranger_id), reason="Mine")
    assert unknown.status_code == 404
    assert admin.post(f"{address}/link", profile="x", reason="Mine").status_code == 422
    assert admin.post(f"{address}/link", profile=str(walt_id), reason="Asked in person").status_code == 303
    with wiring.database.reading() as session:
        assert session.get_one(Profile, walt_id).account_id == cast.rater.account_id
        assert session.scalars(sa.select(Rating.rater_id)).all() == [cast.rater.profile_id]
    other = f"/people/{membership(wiring, cast.moderator, cast.community_id)}"
    assert admin.post(f"{other}/unlink", profile=str(walt_id), reason="Mine").status_code == 404
    assert "Walter 100%" in admin.get(address).text
    assert admin.post(f"{address}/unlink", profile=str(walt_id), reason="A mistake").status_code == 303
    assert [row[0::3] for row in told(wiring, "profile.linked", "profile.unlinked")] == [
        ("profile.linked", "Asked in person"),
        ("profile.unlinked", "A mistake"),
    ]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_many_members_cost_no_more_queries_than_a_few(
    visit: Visit,
    cast: Cast,
    wiring: Wiring,
    statements: Callable[[], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    admin = visit(cast.admin)
    with statements() as few:  # type: ignore[attr-defined]
        admin.get(URL)
    with wiring.database.writing() as session:
        for number in range(60):
            account = Account(
                email=f"m{number}@example.org",
                display_name=f"Member {number}",
                password_hash="x",
                confirmed_at=clock.now(),
            )
            session.add(account)
            session.flush()
            session.add(Membership(account_id=account.id, community_id=cast.community_id, role=Role.RATER))
    with statements() as many:  # type: ignore[attr-defined]
        page = admin.get(URL).text
    assert len(many) <= len(few)
    following = re.search(r'rel="next" href="([^"]+)"', page)
    assert following
    assert "Member 59" in admin.get(following.group(1).replace("&amp;", "&")).text
    assert re.search(r">6\d members<", page)
    monkeypatch.setattr(paging, "MOST_COUNTED", 60)
    assert ">More than 60 members<" in admin.get(URL).text
