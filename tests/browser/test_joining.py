"""From creating an account to a community, by mails and the pages behind their links; and linking a profile."""

import re
from collections.abc import Sequence
from email import message_from_bytes
from email.policy import default

from playwright.sync_api import expect

from tests.browser.accessibility import violations
from tests.browser.conftest import PHONE, Visit, Visitor
from tests.browser.live import Service
from tests.browser.place import API, PASSWORD, PLATFORM, Place, wait_for

NEW = "tree lamp river stone"


def _mails(service: Service, to: str) -> Sequence[str]:
    folder = service.wiring.settings.data_dir.resolve() / "mail"
    files = sorted(folder.glob("*.eml"))
    mails = [message_from_bytes(file.read_bytes(), policy=default) for file in files]
    return [mail.get_content() for mail in mails if mail["To"] == to]


def _link(service: Service, to: str, kind: str) -> str:
    """The last link of this kind that was mailed to the address, once it is there."""

    def found() -> str | None:
        links = re.findall(rf"{service.url}/{kind}/\S+", "\n".join(_mails(service, to)))
        return links[-1] if links else None

    return wait_for(f"a mail with a link to {kind}", found)


def _sign_in(visitor: Visitor, email: str, password: str) -> None:
    visitor.page.get_by_label("Email").fill(email)
    visitor.page.get_by_label("Password").fill(password)
    visitor.button("Sign in").click()


def test_somebody_new_creates_an_account_forgets_the_password_and_joins(
    service: Service, place: Place, visit: Visit
) -> None:
    email = f"nora-{place.platform_id}@example.org"
    nora, seen = visit(None, viewport=PHONE), list[str]()
    nora.wants(401, 410, 422)
    nora.open("/")
    nora.page.get_by_role("link", name="Create account").click()
    nora.page.get_by_label("Name").fill("Nora")
    nora.page.get_by_label("Email").fill(email)
    nora.page.get_by_label("Password").fill("password1")
    nora.button("Create account").click()
    expect(nora.main).to_contain_text("too easy to guess")
    seen += violations(nora, "a sign-up with an error")
    nora.page.get_by_label("Password").fill(PASSWORD)
    nora.button("Create account").click()
    expect(nora.heading("Check your mail")).to_be_visible()
    nora.open("/sign-in")
    _sign_in(nora, email, PASSWORD)
    expect(nora.button("Send the link again")).to_be_visible()
    seen += violations(nora, "signing in unconfirmed")
    nora.open(_link(service, email, "confirm").removeprefix(service.url))
    seen += violations(nora, "the page behind a confirmation link")
    nora.button("Confirm").click()
    expect(nora.status).to_contain_text("Your email address is confirmed.")
    nora.page.go_back()
    nora.page.reload()
    expect(nora.heading("This link does not work any more")).to_be_visible()
    seen += violations(nora, "a link that is over")

    nora.open("/forgot")
    nora.page.get_by_label("Email").fill(email)
    nora.button("Send the link").click()
    nora.open(_link(service, email, "reset").removeprefix(service.url))
    seen += violations(nora, "the page behind a reset link")
    nora.page.get_by_label("New password").fill(NEW)
    nora.button("Save password").click()
    expect(nora.status).to_contain_text("Your password is changed")
    _sign_in(nora, email, NEW)
    expect(nora.heading("Join a community")).to_be_visible()
    nora.page.get_by_label("Name").fill("Harbour forum")
    nora.button("Search").click()
    row = nora.page.get_by_role("row").filter(has=nora.page.get_by_text(_name(place), exact=True))
    row.get_by_role("button", name="Join").click()
    expect(nora.status).to_contain_text(f"You belong to {_name(place)} now.")
    nora.open("/settings/account")
    nora.page.get_by_text("Change password", exact=True).first.click()
    nora.page.get_by_label("Current password").last.fill("wrong password")
    nora.page.get_by_label("New password").fill(PASSWORD)
    nora.page.get_by_role("button", name="Change password").click()
    expect(nora.main).to_contain_text("This is not your current password.")
    seen += violations(nora, "settings with an error")
    assert not seen, seen


def _name(place: Place) -> str:
    return f"Harbour forum {place.platform_id.removeprefix('place-')}"


CODE = re.compile(r"[2-9A-Z]{4}-[2-9A-Z]{4}")


def test_a_code_read_in_the_dashboard_links_the_profile_that_sends_it(place: Place, visit: Visit) -> None:
    rita = visit(place.rater, "/settings")
    rita.button("Show a code").click()
    expect(rita.main).to_contain_text(CODE)
    found = CODE.search(rita.main.inner_text())
    assert found
    headers = {"X-Adapter-Platform": PLATFORM, "X-Adapter-User-Id": "7", "X-Adapter-Username": "Rita R."}
    place.ask("POST", f"{API}/user-profiles/link", json={"code": found.group()}, headers=headers)
    seen = violations(rita, "the page with the code")
    rita.open("/settings")
    row = rita.page.get_by_role("row").filter(has_text="Rita R.")
    expect(row).to_contain_text(PLATFORM)
    assert not seen + violations(rita, "the page with a linked profile")
    rita.page.get_by_role("button", name=f"Unlink Rita R. on {PLATFORM}").click()
    expect(rita.status).to_contain_text("Unlinked")
    expect(rita.main).to_contain_text("No profile is linked yet.")


def test_an_operator_switches_ai_notes_off_with_a_reason(place: Place, visit: Visit) -> None:
    request_id = place.submit("The council meets on Tuesday.")
    olga = visit(place.operator, "/community/ai-notes", wants=[422])
    olga.page.get_by_label("AI notes").uncheck()
    olga.button("Save").click()
    expect(olga.main).to_contain_text("Enter a reason.")
    olga.page.get_by_label("Reason").fill("We write our own")
    olga.button("Save").click()
    expect(olga.status).to_contain_text("saved")
    olga.page.get_by_role("link", name="Changes").click()
    expect(olga.page.get_by_role("row").filter(has_text="We write our own")).to_contain_text(
        "AI notes: on → off"
    )
    assert place.client.post(f"{API}/requests/{request_id}/ai-notes").status_code == 403
    assert not violations(olga, "the community's page with a change")
