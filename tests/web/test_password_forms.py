"""One password in the forms that keyboards send: composed, decomposed, full width (NIST SP 800-63B, 5.1.1.2)."""

import unicodedata

import pytest

from app.core.errors import Invalid
from app.core.models import Account
from app.core.people import passwords
from app.wiring import Wiring
from tests.cast import PASSWORD, Cast
from tests.web.conftest import Visit
from tests.web.mailbox import Mailbox

ANN = "ann@example.org"
COMPOSED = "schöne grüße übermorgen"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
BOTH = pytest.mark.parametrize(("chosen", "typed"), [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)])


def _signs_in(visit: Visit, email: str, password: str) -> bool:
    return visit(None).post("/sign-in", email=email, password=password).status_code == 303


@BOTH
def test_a_password_chosen_at_sign_up_signs_in_in_either_form(
    visit: Visit, wiring: Wiring, mailbox: Mailbox, chosen: str, typed: str
) -> None:
    visit(None).post("/sign-up", display_name="Ann", email=ANN, password=chosen)
    assert visit(None).post(mailbox.link(ANN)).status_code == 303
    assert _signs_in(visit, ANN, chosen)
    assert _signs_in(visit, ANN, typed)


@BOTH
def test_a_password_changed_or_reset_is_asked_for_in_either_form(
    visit: Visit, cast: Cast, mailbox: Mailbox, chosen: str, typed: str
) -> None:
    rater = visit(cast.rater)
    change = {"current_password": PASSWORD, "new_password": chosen}
    assert rater.post("/settings/password", **change).status_code == 303
    change = {"current_password": typed, "new_password": f"{chosen} 2"}
    assert rater.post("/settings/password", **change).status_code == 303, "the check of the current password"
    visit(None).post("/forgot", email=cast.rater.email)
    assert visit(None).post(mailbox.link(cast.rater.email), password=chosen).status_code == 303
    assert _signs_in(visit, cast.rater.email, typed)


@pytest.mark.parametrize("hashed", [COMPOSED, DECOMPOSED, "ｆｕｌｌ ｗｉｄｔｈ ｗｏｒｄｓ"])
def test_a_hash_of_what_was_sent_still_works_and_is_renewed(
    visit: Visit, cast: Cast, wiring: Wiring, hashed: str
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).password_hash = passwords.hasher.hash(hashed)
    assert not _signs_in(visit, cast.rater.email, "something else here")
    assert _signs_in(visit, cast.rater.email, hashed)
    with wiring.database.reading() as session:
        stored = session.get_one(Account, cast.rater.account_id).password_hash
    assert passwords.hasher.verify(stored, unicodedata.normalize("NFKC", hashed))
    assert _signs_in(visit, cast.rater.email, unicodedata.normalize("NFKC", hashed))


def test_a_decomposed_hash_takes_the_composed_form_too(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).password_hash = passwords.hasher.hash(DECOMPOSED)
    assert _signs_in(visit, cast.rater.email, COMPOSED)


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("ｐａｓｓｗｏｒｄ１", "easy to guess"),
        ("u\u0308" * 4, "at least 8"),
        ("\ufdfa", "at least 8"),
        ("ä ö ü ß" * 150, "at most"),
    ],
)
def test_rules_are_checked_on_the_letters_and_not_on_their_form(password: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        passwords.check_password(password)


def test_a_decomposed_password_is_as_long_as_its_letters(wiring: Wiring) -> None:
    passwords.check_password(unicodedata.normalize("NFD", "ä1ö2ü3é" * 142 + "wort"))
