"""Attachments on pages: shown from our own origin, to whoever may see the post, covered where the reader wants it."""

import re

import pytest
import sqlalchemy as sa

from app.core.models import Account, Action
from app.core.vocabulary import MediaVeil
from app.wiring import Wiring
from tests.attached import SECRET, VIDEO, attach
from tests.cast import Cast
from tests.web.conftest import Stage, Visit, Visitor

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def test_only_who_may_see_the_post_gets_its_files_and_nothing_in_them_can_run(
    visit: Visit, rater: Visitor, stage: Stage, cast: Cast, wiring: Wiring
) -> None:
    action_id = stage.post()
    rows = attach(wiring, action_id)
    base = f"/review/{action_id}/media"
    for path, kind, disposition in (
        ("/1", "image/jpeg", "inline; filename=attachment-1.jpg"),
        ("/1/preview", "image/webp", "inline; filename=attachment-1.webp"),
        ("/2", "video/mp4", "inline; filename=attachment-2.mp4"),
        ("/3", "application/octet-stream", "attachment; filename=attachment-3.bin"),
    ):
        answer = rater.get(base + path)
        assert answer.data
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, kind)
        assert answer.headers["Content-Disposition"] == disposition
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "private, max-age=600"
        told = "\n".join(f"{name}: {value}" for name, value in answer.headers)
        assert not any(word in told for word in (SECRET, "pier", *(row.sha256 or "-" * 9 for row in rows)))
    assert rater.get(f"{base}/2").data == VIDEO
    for path in ("/0", "/4", "/5", "/6", "/7", "/2/preview", "/99999999999999999999"):
        assert rater.get(base + path).status_code == 404, path

    # Another community's, a staff item, and a post whose content is gone: unknown; signed out: to the sign-in.
    away = stage.post(away=True)
    attach(wiring, away)
    assert rater.get(f"/review/{away}/media/1").status_code == 404
    assert visit(None).get(f"{base}/1").status_code == 303
    with wiring.database.writing() as session:
        session.get_one(Action, action_id).review_group = "staff"
    assert rater.get(f"{base}/1").status_code == 404
    assert visit(cast.moderator).get(f"{base}/1").data
    wiring.media.remove(rows[0].sha256 or "")
    assert visit(cast.moderator).get(f"{base}/1").status_code == 404


def test_a_video_is_served_in_the_parts_that_a_browser_asks_for(
    rater: Visitor, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post()
    attach(wiring, action_id)
    path = f"/review/{action_id}/media/2"
    for asked, status, body, part in (
        ("bytes=0-", 206, VIDEO, "bytes 0-1023/1024"),
        ("bytes=10-19", 206, VIDEO[10:20], "bytes 10-19/1024"),
        ("bytes=-4", 206, VIDEO[-4:], "bytes 1020-1023/1024"),
        ("bytes=1000-9999", 206, VIDEO[1000:], "bytes 1000-1023/1024"),
        ("bytes=1024-", 416, b"", "bytes */1024"),
        ("bytes=0-1,4-5", 200, VIDEO, None),
        ("nonsense", 200, VIDEO, None),
    ):
        answer = rater.get(path, Range=asked)
        assert (answer.status_code, answer.data) == (status, body), asked
        assert answer.headers.get("Content-Range") == part, asked
        assert answer.headers["Content-Length"] == str(len(body)), asked


def test_pages_show_our_own_copies_and_say_what_is_not_shown(
    moderator: Visitor, rater: Visitor, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post(category="toxicity")
    attach(wiring, action_id)
    pages = {
        "card": rater.get("/help-needed").text,
        "item": rater.get(f"/review/{action_id}").text,
        "queue": moderator.get("/review").text,
    }
    for where, text in pages.items():
        assert f'src="/review/{action_id}/media/1/preview"' in text, where
        asked = re.findall(r'(?:src|srcset|poster|data-src)="([^"]+)"', text)
        assert [one for one in asked if not one.startswith("/")] == [], where
        assert 'class="vh reveal"' not in text, where
    for where in ("card", "item"):
        text = pages[where]
        assert 'alt="A pier &amp; a &lt;boat&gt;"' in text
        assert re.search(r'<video controls muted playsinline preload="none"', text)
        assert "autoplay" not in text
        assert "Picture, not shown: it is too large." in text
        assert "Picture, being fetched." in text
        assert re.search(r'rel="noopener noreferrer nofollow ugc">.*?<strong>cdn.example.org</strong>', text)
        assert re.search(rf"download>.*?{SECRET}.html", text)


def test_a_note_card_shows_the_pictures_of_its_post(rater: Visitor, stage: Stage, wiring: Wiring) -> None:
    action_id = stage.post()
    attach(wiring, action_id)
    note_id = stage.note(action_id)
    page = rater.get("/help-needed").text
    _, _, card = page.partition(f'id="card-{note_id}"')
    assert f'src="/review/{action_id}/media/1/preview"' in card.partition("</article>")[0]
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids)), "the post's own card and the note's have different ids"


def test_sensitive_pictures_are_covered_as_the_reader_chose(
    moderator: Visitor, rater: Visitor, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post(category="threat")
    attach(wiring, action_id)
    path = f"/review/{action_id}"
    queue = moderator.get("/review").text
    assert "3 pictures, 1 video, 1 file, 1 link" in queue
    assert "preview" not in queue  # the row's content is hidden, and so are its pictures
    with wiring.database.writing() as session:
        session.execute(sa.update(Account).values(content_warnings=False))
    for choice, covers in ((MediaVeil.BLUR, True), (MediaVeil.GREYSCALE, True), (MediaVeil.NEITHER, False)):
        saved = rater.post("/settings/reading", media_veil=choice.value)
        assert saved.status_code == 303
        text = rater.get(path).text
        assert f'class="media {choice.value}"' in text
        assert (text.count('class="vh reveal"') == 2) is covers, choice
    assert rater.post("/settings/reading", media_veil="red").status_code == 422


def test_markup_is_rendered_with_the_source_beside_it_and_marks_come_first(
    visit: Visit, stage: Stage, cast: Cast
) -> None:
    words = "See [the *harbour*](https://evil.example/x) <b>now</b>\n\n> quoted\n\n" + "line\n" * 30
    text = visit(cast.rater).get(f"/review/{stage.post(words)}").text
    assert '<div class="typed"><mark>See </mark>[the *harbour*](https://evil.example/x) &lt;b&gt;' in text
    assert (
        '<p>See the <em>harbour</em> <span class="to">→ evil.example</span> &lt;b&gt;now&lt;/b&gt;</p>'
        in text
    )
    assert "<blockquote>" in text
    assert text.index("As formatted by its author") > text.index('class="typed"')
    assert "Show all of it" in text
    plain = visit(cast.rater).get(f"/review/{stage.post('Two * three * four, see_this_name.')}").text
    assert "As formatted" not in plain
    assert "Show all of it" not in plain
