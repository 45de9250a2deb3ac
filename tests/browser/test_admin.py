"""An admin mints a key, which is shown this once, and copies it."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.place import Place

KEY = re.compile(r"^bnk_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$")


def test_a_key_is_copied_and_reloading_neither_shows_it_again_nor_mints_another(
    place: Place, visit: Visit
) -> None:
    ada = visit(place.admin, own=True, permissions=["clipboard-read", "clipboard-write"])
    ada.wants(409)
    ada.open("/keys")
    ada.page.get_by_text("Create a key", exact=True).click()
    ada.page.get_by_label("Name", exact=True).fill("New forum")
    ada.page.get_by_label("Reason").fill("The forum joins")
    ada.button("Create key").click()
    shown = ada.page.get_by_label("The new key")
    expect(shown).to_have_value(KEY)
    text = shown.input_value()
    ada.button("Copy").click()
    expect(ada.status).to_contain_text("Copied.")
    assert ada.page.evaluate("navigator.clipboard.readText()") == text
    ada.page.reload()
    expect(ada.alert).to_contain_text("This key was created already")
    assert text not in ada.page.content()
    expect(ada.page.get_by_role("link", name="Revoke: New forum")).to_have_count(1)
