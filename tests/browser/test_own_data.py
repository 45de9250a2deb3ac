"""What is kept of a person, as they ask for it and fetch it, with and without script."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Visit
from tests.browser.live import wait_for
from tests.browser.place import Place


@pytest.mark.parametrize("scripted", [True, False], ids=["script", "no script"])
def test_a_person_asks_for_what_is_kept_of_them_and_fetches_it(
    scripted: bool, place: Place, visit: Visit
) -> None:
    rita = visit(place.rater, "/settings/account", java_script_enabled=scripted)
    rita.main.get_by_role("link", name="What is kept of you").click()
    rita.button("Make the file").click()
    expect(rita.status).to_contain_text("Your file is being made.")
    download = rita.main.get_by_role("link", name="Download as JSON")
    if not scripted:
        reload = rita.main.get_by_role("link", name="Reload")

        def look() -> bool | None:
            if reload.count():
                reload.click()
            return download.count() == 1 or None

        wait_for("the file is ready", look)
    expect(download).to_be_visible(timeout=60_000)
    expect(rita.heading("Your file is ready")).to_be_visible()
    if scripted:
        expect(rita.status).to_contain_text("Your file is ready.")
    with rita.page.expect_download() as fetched:
        download.click()
    assert re.fullmatch(r"bridgenote-\d{4}-\d\d-\d\d\.json", fetched.value.suggested_filename)
    kept = json.loads(Path(fetched.value.path()).read_text(encoding="utf-8"))
    assert [row["email"] for row in kept["account"]] == [place.rater.email]
    if scripted:
        assert not violations(rita, "a file that is ready")
