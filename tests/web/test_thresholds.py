"""Thresholds: saved as versions with a reason, stale saves, previews, the way back."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.models import Action, Hold, PostScores, Request
from app.core.review import holds
from app.core.thresholds import post_scores, threshold_sets
from app.core.thresholds.drafts import CategoryDraft, draft_of
from app.core.thresholds.routing import Scored
from app.core.vocabulary import ActionState, ActionTier, ReviewGroup, Verb
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.web.conftest import HTMX, SCORE, FixedClassifier, Stage, Visitor

Visit = Callable[[Person | None], Visitor]


def drafts(wiring: Wiring, cast: Cast) -> dict[str, CategoryDraft]:
    with wiring.database.reading() as session:
        policy = threshold_sets.current(session, cast.community_id)
        return {category.name: draft_of(category) for category in policy.categories}


def version(wiring: Wiring, cast: Cast) -> int:
    with wiring.database.reading() as session:
        return threshold_sets.current(session, cast.community_id).version


def as_form(wiring: Wiring, cast: Cast, **changed: str) -> dict[str, str]:
    """What the page would send, with ``changed`` typed into it; a dash unticks."""
    sent = {"version": str(version(wiring, cast)), "reason": "Fewer false alarms"}
    for name, draft in drafts(wiring, cast).items():
        sent |= {
            f"{name}_tier2": f"{draft.tier2:g}",
            f"{name}_tier1": "" if draft.tier1 is None else f"{draft.tier1:g}",
            f"{name}_tier2_action": draft.tier2_action.value,
            f"{name}_tier1_action": draft.tier1_action.value,
        } | ({f"{name}_enabled": "y"} if draft.enabled else {})
    sent |= changed
    return {name: value for name, value in sent.items() if value != "-"}


MATRIX = [("rater", 403), ("moderator", 403), ("operator", 200), ("admin", 200), ("outsider", 404)]


@pytest.mark.parametrize(("who", "status"), [*MATRIX, (None, 303)])
def test_only_operators_and_above_see_the_thresholds(
    visit: Visit, cast: Cast, who: str | None, status: int
) -> None:
    visitor = visit(getattr(cast, who) if who else None)
    assert visitor.get("/thresholds?community=harbour-forum").status_code == status


@pytest.mark.parametrize("path", ["/thresholds", "/thresholds/1/revert"])
@pytest.mark.parametrize(("who", "status"), [*MATRIX, (None, 401)])
def test_only_operators_and_above_change_them(
    visit: Visit, cast: Cast, wiring: Wiring, path: str, who: str | None, status: int
) -> None:
    visitor = visit(getattr(cast, who) if who else None)
    answer = visitor.post(f"{path}?community=harbour-forum", **as_form(wiring, cast))
    assert answer.status_code == (303 if status == 200 else status)
    assert version(wiring, cast) == (2 if status == 200 else 1)


def test_saving_makes_a_version_that_says_who_and_why(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    before = drafts(wiring, cast)
    typed = as_form(
        wiring,
        cast,
        spam_tier1="0,9",
        spam_tier1_action="notify",
        toxicity_tier1="0.97",
        hate_enabled="-",
        pii_tier1="",
        spam_author_text="  Please do not\r\nadvertise. ",
    )
    assert operator.post("/thresholds", **typed).status_code == 303
    after = drafts(wiring, cast)
    assert (after["spam"].tier1, after["spam"].tier1_action) == (0.9, Verb.NOTIFY)
    assert (after["toxicity"].tier1, after["pii"].tier1, after["hate"].enabled) == (0.97, None, False)
    assert after["spam"].author_text == "Please do not\nadvertise."
    assert after["toxicity"].author_text is None
    assert after["threat"] == before["threat"]
    assert after["spam"].severity == before["spam"].severity
    page = operator.get("/thresholds").text
    assert "Version 2 is in force" in page
    assert "Fewer false alarms" in page
    assert "Spam, Acts by itself (Tier 1): 0.95 → 0.9" in page
    assert "Spam, Text to the author: the shipped text → “Please do not advertise.”" in page
    assert "Please do not\nadvertise.</textarea>" in operator.get("/thresholds?category=spam").text
    support = operator.get("/thresholds?category=self_harm").text
    assert 'placeholder="Thank you for writing this.' in support
    changes = operator.get("/history/settings").text
    assert "Spam, Text to the author: none → Please do not" in changes


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (
            {"spam_tier2": "0.96"},
            "Spam, Asks people (Tier 2) must be at most 0.95, above which it acts by itself.",
        ),
        ({"spam_tier2": "1.2"}, "Spam, Asks people (Tier 2): enter a number from 0 to 1"),
        ({"spam_tier2": ""}, "Spam, Asks people (Tier 2): enter a number from 0 to 1"),
        ({"spam_tier1": "nan"}, "Spam, Acts by itself (Tier 1): enter a number from 0 to 1"),
        ({"spam_tier1": "high"}, "Spam, Acts by itself (Tier 1): enter a number from 0 to 1"),
        ({"spam_tier1_action": "explode"}, "Not a valid choice"),
        (
            {"spam_author_text": "x" * 2_001},
            "Spam, Text to the author must be at most 2,000 characters; it has 2,001.",
        ),
        ({"spam_author_text": "a\x00b"}, "must not contain NUL"),
    ],
)
def test_what_cannot_be_saved_is_named_beside_its_field_and_kept(
    visit: Visit, cast: Cast, wiring: Wiring, typed: dict[str, str], told: str
) -> None:
    answer = visit(cast.operator).post(
        "/thresholds", **as_form(wiring, cast, **{"toxicity_tier2": "0.61", **typed})
    )
    assert answer.status_code == 422
    assert told in answer.text
    assert "There is a problem" in answer.text
    assert 'value="0.61"' in answer.text
    assert version(wiring, cast) == 1


@pytest.mark.parametrize(("reason", "told"), [("", "Enter a reason."), ("  ", "Reason must not be blank.")])
def test_a_missing_reason_alone_is_said_at_the_reason_which_gets_the_focus(
    visit: Visit, cast: Cast, wiring: Wiring, reason: str, told: str
) -> None:
    operator = visit(cast.operator)
    answer = operator.post("/thresholds", **as_form(wiring, cast, toxicity_tier2="0.61", reason=reason))
    assert answer.status_code == 422
    assert answer.text.count(told) == 1
    assert "There is a problem" not in answer.text
    (field,) = re.findall(r"<textarea[^>]* autofocus[^>]*>", answer.text)
    assert 'name="reason"' in field
    assert 'aria-invalid="true"' in field
    assert 'value="0.61"' in answer.text
    both = operator.post("/thresholds", **as_form(wiring, cast, toxicity_tier2="two", reason=reason)).text
    assert "There is a problem" in both
    assert version(wiring, cast) == 1


def test_a_value_that_was_emptied_stays_empty_while_another_category_is_shown(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    page = operator.post("/thresholds", preview="of-hate", **as_form(wiring, cast, spam_tier1="")).text
    assert '<input type="hidden" name="spam_tier1" value="">' in page
    assert '<input type="hidden" name="pii_tier1" value="0.95">' in page
    (heading,) = re.findall(r"<h3[^>]*autofocus[^>]*>(\w+)", page)
    assert heading == "Hate"


def test_a_refused_preview_opens_at_its_errors_without_script(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    # An address with a part would win over what takes the focus.
    assert not re.search(r'formaction="[^"]*#', operator.get("/thresholds").text)
    refused = operator.post("/thresholds", preview="1", **as_form(wiring, cast, pii_tier2="2")).text
    assert re.findall(r"<(\w+)[^>]* autofocus", refused) == ["div"]
    assert 'id="pii_tier2"' in refused, "the fields with errors are there, whichever category is shown"


def test_a_save_based_on_an_older_version_gets_409_and_keeps_what_was_typed(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    mine = as_form(wiring, cast, spam_tier1="0.91", reason="My careful reason")
    visit(cast.admin).post("/thresholds", **as_form(wiring, cast, spam_tier1="0.99"))
    operator = visit(cast.operator)
    answer = operator.post("/thresholds", **mine)
    assert answer.status_code == 409
    assert "Admin saved version 2 in the meantime" in answer.text
    assert "My careful reason" in answer.text
    assert 'value="0.91"' in answer.text
    assert drafts(wiring, cast)["spam"].tier1 == 0.99
    based_on = re.search(r'name="version"[^>]* value="(\d+)"', answer.text)
    assert based_on
    assert operator.post("/thresholds", **(mine | {"version": based_on.group(1)})).status_code == 303
    assert drafts(wiring, cast)["spam"].tier1 == 0.91


def test_revert_restores_an_old_version_as_a_new_one(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    before = drafts(wiring, cast)
    operator.post("/thresholds", **as_form(wiring, cast, spam_tier1="0.7"))
    assert (
        operator.post("/thresholds/1/revert", **as_form(wiring, cast, reason="Too eager")).status_code == 303
    )
    assert drafts(wiring, cast) == before
    assert version(wiring, cast) == 3
    assert "Too eager" in operator.get("/thresholds").text


def test_revert_needs_a_reason_and_a_version_that_exists(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    assert operator.post("/thresholds/1/revert", **as_form(wiring, cast, reason="")).status_code == 422
    assert operator.post("/thresholds/99/revert", **as_form(wiring, cast)).status_code == 404
    assert version(wiring, cast) == 1


def test_a_revert_from_a_stale_page_gets_409(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    stale = as_form(wiring, cast)
    visit(cast.admin).post("/thresholds", **as_form(wiring, cast, spam_tier1="0.99"))
    assert visit(cast.operator).post("/thresholds/1/revert", **stale).status_code == 409
    assert version(wiring, cast) == 2


def test_the_preview_counts_stored_scores_before_and_after_and_changes_nothing(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    for _ in range(3):
        stage.post(category="spam")
    stage.post(category="spam", away=True)
    assert 0.55 < SCORE < 0.95
    typed = as_form(wiring, cast, spam_tier2="0.9", reason="")
    page = visit(cast.operator).post("/thresholds", preview="1", **typed).text
    assert cells(page, "Spam") == ["0", "0", "3", "0 (-3)"]
    assert version(wiring, cast) == 1
    assert 'value="0.9"' in page


def test_a_preview_of_impossible_values_names_them(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    answer = visit(cast.operator).post(
        "/thresholds", preview="1", **as_form(wiring, cast, spam_tier2="0.99", reason="")
    )
    assert answer.status_code == 422
    assert "above which it acts by itself" in answer.text
    assert "Enter a reason." not in answer.text


def cells(page: str, category: str) -> list[str]:
    row: Any = re.search(rf'<tr><th scope="row">{category}</th>(.*?)</tr>', page, re.S)
    assert row, "the preview has a row for the category"
    return [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row.group(1), re.S)]


def test_categories_are_added_changed_and_removed_in_one_version(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    addition = {
        "add-name": "off_topic",
        "add-tier2": "0.7",
        "add-severity": "5",
        "add-review_group": "trusted",
    }
    typed = as_form(wiring, cast, spam_observe_only="y", hate_severity="999", threat_review_group="staff")
    assert operator.post("/thresholds", **typed, **addition, misinformation_remove="y").status_code == 303
    after = drafts(wiring, cast)
    assert "misinformation" not in after
    added = after["off_topic"]
    assert (added.tier2, added.tier1, added.severity, added.review_group) == (
        0.7,
        None,
        5,
        ReviewGroup.TRUSTED,
    )
    assert after["spam"].observe_only
    assert (after["hate"].severity, after["threat"].review_group) == (999, ReviewGroup.STAFF)
    page = operator.get("/thresholds").text
    for line in (
        "Off topic added",
        "Misinformation removed",
        "Hate, severity: 50 → 999",
        "Spam, observe only: no → yes",
        "Threat, review group: Community → Staff",
    ):
        assert line in page
    for wrong, told in (
        ({"add-name": "Off Topic"}, "must be lower case letters"),
        ({"add-name": "unfinished"}, "must not be unfinished"),
        ({"add-name": "spam"}, "Spam is there already"),
        (
            {"add-name": "new_one", "add-tier2": "0.9", "add-tier1": "0.8"},
            "must be at most 0.8, above which it acts by itself",
        ),
        ({"hate_severity": "-1"}, "Hate, severity: enter a whole number from 0 to 1,000"),
    ):
        answer = operator.post("/thresholds", **(as_form(wiring, cast) | wrong))
        assert answer.status_code == 422
        assert told in answer.text
    assert version(wiring, cast) == 2


def test_a_category_added_meanwhile_stays_on_a_stale_page(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    mine = as_form(wiring, cast, spam_tier1="0.91")
    visit(cast.admin).post(
        "/thresholds", **as_form(wiring, cast, **{"add-name": "off_topic", "add-tier2": "0.7"})
    )
    operator = visit(cast.operator)
    answer = operator.post("/thresholds", **mine)
    assert answer.status_code == 409
    assert operator.post("/thresholds", **(mine | {"version": "2"})).status_code == 303
    assert drafts(wiring, cast)["off_topic"].tier2 == 0.7


def test_the_preview_draws_scores_and_lists_what_is_newly_affected(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    open_, dismissed = (stage.post(f"Spam number {number}", category="spam") for number in range(2))
    veiled = stage.post("Something hard", category="threat")
    operator = visit(cast.operator)
    visit(cast.moderator).post(f"/review/{dismissed}/decide", verb="dismiss", version="1", reason="Fine")
    with wiring.database.writing() as session:
        holds.carry_out(session, session.scalars(sa.select(Hold.id)).one())
        # Every score may lead to Tier 1 now.
        for row in session.scalars(sa.select(PostScores)):
            best = post_scores.unpacked(row)
            row.scores = post_scores.packed({name: Scored(scored.score) for name, scored in best.items()})[
                "scores"
            ]
    typed = as_form(wiring, cast, spam_tier1="0.8", threat_tier1="0.8", reason="", shown="spam")
    page = operator.post("/thresholds", preview="1", **typed).text
    assert (
        '<title id="histogram-spam">2 scores of Spam above 0. Asks people (Tier 2) above 0.55, '
        "acts by itself (Tier 1) above 0.8.</title>" in page
    )
    assert "2 above 0.80, up to 0.85" in page
    assert " style=" not in page
    assert "0 → <strong>3</strong> (+3)" in page
    assert "the outcome of 1 is known: 0 upheld (0\u00a0%), 1 overturned or dismissed." in page
    for action_id in (open_, dismissed, veiled):
        assert f'href="/review/{action_id}"' in page
    assert "Something hard" not in page
    spam, threat = re.findall(r"<strong>(\w+), 30 days:</strong> ([^<]+?)\s*</div>", page)
    assert spam[0] == "Spam"
    assert spam[1].startswith(
        "Would hide 2 more posts without asking. Of 1 that people judged, 1 was fine. Would ask people about 2 fewer"
    )
    assert threat[0] == "Threat"
    assert threat[1].startswith(
        "Would hide 1 more post without asking. People judged none of them. Would ask people about 1 fewer"
    )
    wrongly, rest = page.index("</span> Wrongly "), page.index("Not decided: 2 posts")
    assert "</span> Rightly " not in page
    assert wrongly < page.index(f'href="/review/{dismissed}"') < rest
    assert rest < page.index(f'href="/review/{open_}"')


def shown(page: str) -> list[str]:
    """The categories whose fields can be seen."""
    return re.findall(r'data-category="(\w+)">', page)


def test_one_histogram_is_shown_the_one_that_was_asked_for_or_changed(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    assert len(shown(operator.get("/thresholds").get_data(as_text=True))) == 1
    assert shown(operator.get("/thresholds?category=spam").get_data(as_text=True)) == ["spam"]
    assert shown(operator.get("/thresholds?category=nothing").get_data(as_text=True)) == ["threat"]
    changed = as_form(wiring, cast, spam_tier1="0.8", reason="")
    assert shown(operator.post("/thresholds", preview="1", **changed).text) == ["spam"]
    # Without script a category's button looks at it, keeps what was typed and saves nothing.
    other = operator.post("/thresholds", preview="of-hate", shown="spam", **changed)
    assert other.status_code == 200
    assert shown(other.text) == ["hate"]
    assert 'value="0.8"' in other.text
    assert version(wiring, cast) == 1


def test_what_is_dragged_is_answered_with_its_effects_alone(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    typed = as_form(wiring, cast, spam_tier1="0.8", reason="")
    part = operator.post("/thresholds", HTMX, preview="live", **typed)
    assert part.status_code == 200
    assert "Nothing would have been different in the last 30 days." in part.text
    assert part.text.count('id="effects"') == part.text.count('id="verdict"') == 1
    assert "data-focus" not in part.text, "the focus stays on the line"
    assert 'id="thresholds-form"' not in part.text
    wrong = as_form(wiring, cast, spam_tier2="0.99", reason="")
    refused = operator.post("/thresholds", HTMX, preview="live", **wrong)
    assert refused.status_code == 422
    assert "Correct the values first: Spam, Asks people (Tier 2) must be at most 0.95" in refused.text
    assert version(wiring, cast) == 1


def test_a_suggestion_fills_the_field_or_says_what_is_missing(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    first = stage.post(category="spam")
    operator = visit(cast.operator)
    typed = as_form(wiring, cast, hate_tier2="0.61", reason="Typed before", suggest="1", suggest_for="spam")
    few = operator.post("/thresholds", **typed, precision="0.9").text
    assert "No outcome is known yet. It takes at least 35 outcomes above a threshold, all upheld." in few
    assert operator.post("/thresholds", **typed, precision="2").status_code == 422
    with wiring.database.writing() as session:
        action = session.get_one(Action, first)
        columns = {column.key: getattr(action, column.key) for column in sa.inspect(Action).columns}
        many = [
            columns
            | {
                "id": uuid.uuid4(),
                "action_state": ActionState.OVERTURNED if n < 2 else ActionState.CONFIRMED,
                "action_tier": ActionTier.IMMEDIATE,
                "score": 0.6 if n < 2 else 0.9,
            }
            for n in range(42)
        ]
        for one in many:
            request_id = uuid.uuid4()
            session.execute(
                sa.insert(Request).values(
                    id=request_id,
                    community_id=cast.community_id,
                    request_id=str(request_id),
                    requested_by="x",
                    content="x",
                    content_sha256="0" * 64,
                )
            )
            session.execute(sa.insert(Action).values(**(one | {"request_id": request_id})))
    page = operator.post("/thresholds", **typed, precision="0,9").text
    assert "Tier 1 of Spam is filled in above: 0.8999." in page
    assert "Of 40 known outcomes above it, 40 were upheld." in page
    assert 'name="spam_tier1" placeholder="never" size="5" type="text" value="0.8999"' in page
    assert 'value="0.61"' in page
    assert "Typed before" in page
    assert version(wiring, cast) == 1


def _expected(page: str) -> dict[str, tuple[int, float]]:
    """By category shown, the shares in per cent that the page says are caught and raised."""
    said = {}
    for row in page.split("data-category=")[1:]:
        sentence = re.search(r"about (\d+)\xa0% of such posts and (less than )?([\d.]+)\xa0?", row)
        if sentence:
            said[row.split('"')[1]] = int(sentence[1]), float(sentence[3])
    return said


@pytest.mark.parametrize("wrong", ["spam_tier2", "spam_severity", "spam_tier1_action"])
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "part"])
def test_what_cannot_be_read_stays_as_typed_while_something_else_is_asked_for(
    visit: Visit, cast: Cast, wiring: Wiring, wrong: str, headers: dict[str, str]
) -> None:
    operator = visit(cast.operator)
    typed = as_form(wiring, cast, **{wrong: "abc"}, suggest_for="toxicity", precision="0.95")
    suggested = operator.post("/thresholds", headers, suggest="1", **typed)
    assert suggested.status_code == 200
    assert "Too little is known to suggest a Tier 1 of Toxicity." in suggested.text
    visit(cast.admin).post("/thresholds", **as_form(wiring, cast, spam_tier1="0.99"))
    stale = operator.post("/thresholds/1/revert", headers, **typed)
    assert stale.status_code == 409
    if wrong != "spam_tier1_action":  # a choice that is not on the list cannot be shown
        assert stale.text.count('value="abc"') == suggested.text.count('value="abc"') == 1


def test_each_category_says_what_its_tier_2_catches_as_measured(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator = visit(cast.operator)

    def expected(name: str, tier2: str) -> tuple[int, float] | None:
        typed = as_form(wiring, cast, **{f"{name}_tier2": tier2, "preview": f"of-{name}"})
        return _expected(operator.post("/thresholds", **typed).get_data(as_text=True)).get(name)

    shipped, stricter = expected("toxicity", "0.55"), expected("toxicity", "0.9")
    assert shipped
    assert stricter
    assert stricter[0] < shipped[0]
    assert stricter[1] <= shipped[1]
    assert expected("hate", "0.55")
    assert expected("misinformation", "0.55") is None
    assert expected("toxicity", "much") is None


def test_nothing_is_expected_of_other_classifiers(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    wiring.classifiers = [FixedClassifier()]
    assert _expected(visit(cast.operator).get("/thresholds").get_data(as_text=True)) == {}


def test_an_answer_that_comes_late_takes_no_message_from_the_next_page(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    # A browser keeps the newest cookie it is sent, whichever request left first: the message is in such a cookie.
    operator = visit(cast.operator)
    late = operator.post("/thresholds", HTMX, preview="live", **as_form(wiring, cast, spam_tier1="0.8"))
    assert late.status_code == 200
    assert late.headers.getlist("Set-Cookie") == []
