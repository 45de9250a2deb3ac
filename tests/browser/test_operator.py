"""An operator sets thresholds, is stopped at a mistake, looks before saving, and goes back; an admin mints a key."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.live import DOUBTFUL
from tests.browser.place import Place


def test_saving_thresholds_with_a_reason_makes_a_version(place: Place, visit: Visit) -> None:
    olga = visit(place.operator, "/thresholds")
    olga.button("Spam").click()
    olga.page.get_by_label("Spam, Acts by itself (Tier 1)", exact=True).fill("0,9")
    olga.page.get_by_label("Spam, Asks people (Tier 2)", exact=True).fill("0.6")
    olga.page.get_by_label("Reason").fill("Market day brings more of it")
    olga.button("Save").click()
    expect(olga.status).to_contain_text("Version 2 is in force.")
    version = olga.page.get_by_role("row").filter(has_text="Market day brings more of it")
    expect(version).to_contain_text("in force")
    expect(version).to_contain_text("Olga")
    expect(version).to_contain_text("Spam, Acts by itself (Tier 1): 0.95 → 0.9")
    olga.open("/thresholds?category=spam")
    expect(olga.page.get_by_label("Spam, Acts by itself (Tier 1)", exact=True)).to_have_value("0.9")
    expect(olga.page.get_by_label("Spam, Asks people (Tier 2)", exact=True)).to_have_value("0.6")


def test_a_version_can_be_restored_and_decides_about_new_posts_only(place: Place, visit: Visit) -> None:
    (before,) = place.queue(DOUBTFUL[0])
    olga = visit(place.operator, "/thresholds?category=toxicity")
    olga.page.get_by_label("Toxicity, Asks people (Tier 2)", exact=True).fill("0.97")
    olga.page.get_by_label("Reason").fill("Let people argue")
    olga.button("Save").click()
    expect(olga.status).to_contain_text("Version 2")
    quiet = place.submit(DOUBTFUL[0])
    place.finished(quiet)
    assert place.state(before) == "under_review"
    assert len(place.actions("under_review")) == 1

    olga.page.get_by_label("Reason").fill("They argued too much")
    olga.button("Revert to version 1").click()
    expect(olga.status).to_contain_text("Version 1 is restored as version 3.")
    olga.open("/thresholds?category=toxicity")
    expect(olga.page.get_by_label("Toxicity, Asks people (Tier 2)", exact=True)).to_have_value("0.55")
    assert place.queue(DOUBTFUL[1])


def test_tier_2_above_tier_1_is_refused_at_the_field_and_nothing_is_lost(place: Place, visit: Visit) -> None:
    olga = visit(place.operator, "/thresholds?category=spam", wants=[422])
    field = olga.page.get_by_label("Spam, Asks people (Tier 2)", exact=True)
    field.fill("0.99")
    olga.page.get_by_label("Reason").fill("Trying something")
    olga.button("Save").click()
    summary = olga.page.get_by_role("group", name="There is a problem")
    expect(summary).to_be_visible()
    summary.get_by_role("link", name=re.compile(r"Spam, Asks people \(Tier 2\) must be at most 0.95")).click()
    expect(field).to_be_focused()
    expect(field).to_have_value("0.99")
    expect(olga.page.get_by_label("Reason")).to_have_value("Trying something")
    expect(olga.page.get_by_role("row").filter(has_text="Trying something")).to_have_count(0)


def test_preview_tells_what_would_have_happened_and_saves_nothing(place: Place, visit: Visit) -> None:
    place.queue(DOUBTFUL[0])
    olga = visit(place.operator, "/thresholds?category=toxicity")
    olga.page.get_by_label("Toxicity, Asks people (Tier 2)", exact=True).fill("0.97")
    olga.button("Preview").click()
    effects = olga.page.get_by_role("region", name="What this would have done")
    expect(effects.get_by_role("row").filter(has_text="Toxicity")).to_contain_text("0 (-1)")
    expect(olga.page.get_by_label("Toxicity, Asks people (Tier 2)", exact=True)).to_have_value("0.97")
    olga.page.reload()
    expect(olga.page.get_by_label("Toxicity, Asks people (Tier 2)", exact=True)).to_have_value("0.55")
    expect(olga.page.get_by_role("cell", name="Shipped defaults")).to_be_visible()


def test_a_line_is_dragged_and_the_verdict_follows_before_anything_is_saved(
    place: Place, visit: Visit
) -> None:
    place.queue(DOUBTFUL[0])
    olga = visit(place.operator, "/thresholds")
    verdict, field = (
        olga.page.locator("#verdict"),
        olga.page.get_by_label("Toxicity, Asks people (Tier 2)", exact=True),
    )
    olga.button("Toxicity").click()
    plot = olga.page.get_by_role("group", name="Toxicity", exact=True).locator("figure > svg")
    expect(plot).to_be_visible()
    box = plot.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    olga.page.mouse.move(box["x"] + box["width"] * 0.56, middle)
    olga.page.mouse.down()
    olga.page.mouse.move(box["x"] + box["width"] * 0.97, middle, steps=4)
    expect(field).to_have_value("0.97")
    # It is tried before the line is let go.
    expect(verdict).to_contain_text("Toxicity, 30 days: Would ask people about 1 fewer post (1 → 0).")
    olga.page.mouse.up()

    # The slider below the line has the focus: keys move it on, and back to where nothing would be different.
    slider = olga.page.get_by_role("slider", name="Toxicity: Line above which people are asked")
    expect(slider).to_be_focused()
    olga.press("ArrowLeft")
    expect(field).to_have_value("0.96")
    slider.fill("0.55")
    expect(verdict).to_contain_text("Nothing would have been different in the last 30 days.")
    expect(slider).to_be_focused()

    # A line stops at the other one, and the right end of the scale means never.
    acting = olga.page.get_by_label("Toxicity, Acts by itself (Tier 1)", exact=True)
    other = olga.page.get_by_role("slider", name="Toxicity: Line above which it acts by itself")
    other.fill("0.3")
    expect(acting).to_have_value("0.55")
    other.fill("1")
    expect(acting).to_have_value("")

    acting.fill("0.5551")
    slider.fill("0.9")
    expect(field).to_have_value("0.5551")
    acting.fill("")

    # Another category keeps what was typed, and takes the focus to its heading.
    olga.button("Spam").click()
    expect(olga.page.get_by_role("heading", name="Spam")).to_be_focused()
    olga.page.get_by_label("Spam, Acts by itself (Tier 1)", exact=True).fill("0.7")
    expect(olga.page.get_by_role("slider", name="Spam: Line above which it acts by itself")).to_have_value(
        "0.7"
    )
    # What is typed shows in the table of all, which leads back to the fields.
    olga.page.get_by_text("All categories", exact=True).first.click()
    row = olga.page.get_by_role("row").filter(has_text="Spam")
    expect(row).to_contain_text("0.7")
    olga.page.get_by_role("row").filter(has_text="Toxicity").get_by_role("button").click()
    expect(field).to_have_value("0.5551")
    # A category that is only previewed has lines, too.
    olga.button("Add category").click()
    olga.page.get_by_label("New category, Name, such as off_topic").fill("off_topic")
    added = olga.page.get_by_label("New category, Asks people (Tier 2)", exact=True)
    added.fill("0.6")
    olga.page.get_by_role("slider", name="New category: Line above which people are asked").fill("0.7")
    expect(added).to_have_value("0.7")
    olga.button("Preview").click()
    expect(verdict).to_be_focused()
    expect(added).to_have_value("0.7")


def test_a_missing_reason_takes_the_focus_and_nothing_lies_under_a_bar(place: Place, visit: Visit) -> None:
    olga = visit(place.operator, "/thresholds", wants=[422])
    olga.button("Save").click()
    reason = olga.page.get_by_label("Reason", exact=True)
    expect(reason).to_be_focused()
    expect(olga.page.get_by_text("Enter a reason.")).to_be_visible()
    expect(olga.page.get_by_role("group", name="There is a problem")).to_have_count(0)
    # Wherever the focus goes, it is in sight and on top.
    olga.page.set_viewport_size({"width": 1024, "height": 500})
    olga.page.get_by_text("All categories", exact=True).first.click()
    olga.page.locator("h1").click()
    for _ in range(60):
        olga.press("Tab")
        covered = olga.page.evaluate(
            """() => {
              const { left, top, width, height } = document.activeElement.getBoundingClientRect();
              const above = document.elementFromPoint(left + width / 2, top + height / 2);
              return above && !document.activeElement.contains(above) && !above.contains(document.activeElement)
                ? document.activeElement.outerHTML : "";
            }"""
        )
        assert not covered


def test_a_rule_put_in_force_scores_the_next_post(place: Place, visit: Visit) -> None:
    tour = "Come on a harbour tour with us"
    place.finished(place.submit(tour))
    olga = visit(place.operator, "/classifiers")
    olga.page.get_by_role("link", name="Add rule").click()
    olga.page.get_by_label("Name").fill("spam.harbour")
    olga.page.get_by_label("Category").fill("spam")
    olga.page.get_by_label("Pattern").fill("harbour tour")
    olga.button("Save to draft").click()
    expect(olga.status).to_contain_text("spam.harbour is in the draft.")
    olga.button("Preview hits").click()
    hits = olga.page.get_by_role("region", name="Hits of the last 30 days")
    expect(hits.get_by_role("row").filter(has_text="Let through")).to_contain_text("Spam, Tier 2")
    olga.page.get_by_label("Text", exact=True).fill(tour)
    olga.page.get_by_label("Rules", exact=True).select_option("draft")
    olga.button("Test").click()
    result = olga.page.get_by_role("region", name="Result by the draft")
    expect(result).to_contain_text("People would be asked whether the post should be hidden")
    expect(result.locator("mark")).to_have_text("harbour tour")
    assert place.actions("under_review") == []
    olga.page.get_by_label("Reason", exact=True).fill("Tours again")
    olga.button("Put in force").click()
    expect(olga.status).to_contain_text("Version 1 is in force.")
    assert place.queue(tour)


def test_a_typed_time_is_read_where_the_browser_is_until_a_timezone_is_chosen(
    place: Place, visit: Visit
) -> None:
    olga = visit(place.operator, "/community/overturns", own=True, timezone_id="Asia/Tokyo")
    # Script knows the zone before the server does; the next page has it from the cookie.
    for _ in range(2):
        expect(olga.page.get_by_text("In your timezone, Asia/Tokyo.")).to_be_visible()
        (cookie,) = (one for one in olga.page.context.cookies() if one["name"] == "bridgenote_zone")
        assert (cookie["value"], cookie["sameSite"]) == ("Asia/Tokyo", "Lax")
        assert (cookie["path"], cookie["expires"]) == ("/", -1)
        olga.page.reload()
    olga.open("/settings")
    olga.page.get_by_label("Timezone").select_option("Europe/Paris")
    olga.button("Save").first.click()
    expect(olga.status).to_contain_text("saved")
    olga.open("/community/overturns")
    expect(olga.page.get_by_text("In your timezone, Europe/Paris.")).to_be_visible()
    assert "bridgenote_zone" not in {one["name"] for one in olga.page.context.cookies()}


KEY = re.compile(r"^bnk_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$")


def test_a_key_is_copied_and_reloading_neither_shows_it_again_nor_mints_another(
    place: Place, visit: Visit
) -> None:
    ada = visit(place.admin, own=True, permissions=["clipboard-read", "clipboard-write"], wants=[409])
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
