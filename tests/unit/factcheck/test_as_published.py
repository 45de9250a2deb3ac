"""Fact-checks as their publishers write them: markup, character sets, dates and addresses."""

import io
import json
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.factcheck import columns, feed_fetches, feeds, formats, imports, published, reading
from app.core.factcheck.feed_fetches import Fetched
from app.core.factcheck.feeds import FeedDraft
from app.core.factcheck.formats import Reading
from app.core.factcheck.items import Item
from app.core.factcheck.published import Defaults, Fault, Found
from app.core.factcheck.reading import BadFile
from app.core.models import DatasetFeed, DatasetImport
from app.core.permissions import SYSTEM
from app.core.vocabulary import AfterReading, ClaimRating, FeedOutcome, ImportFormat, ImportState
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.unit.factcheck.importing import Fetcher, add_feed, begin

URL = "https://checks.example.org/mud"
FEED = "https://feeds.example.org/page"


def review(**more: Any) -> dict[str, Any]:
    return {
        "@type": "ClaimReview",
        "claimReviewed": "Mud from the quay cures colds",
        "url": URL,
        "author": {"name": "Example Checks"},
        "reviewRating": {"alternateName": "False"},
        **more,
    }


def row(**more: Any) -> dict[str, Any]:
    return {"claim": "Mud cures colds", "rating": "False", "url": URL, "publisher": "P", **more}


def read(content: bytes, name: str = "") -> list[Found | Fault]:
    file = io.BytesIO(content)
    kind = reading.detect(file, name)
    chosen = {}
    if kind is ImportFormat.CSV:
        chosen = columns.guess(columns.head(file).headers)
        file.seek(0)
    return list(formats.distinct(file, Reading(kind, Defaults("d", "P"), chosen)))


def item(content: Any) -> Item:
    (found,) = read(content if isinstance(content, bytes) else json.dumps(content).encode())
    assert isinstance(found, Found), found
    return found.item


MARKED = "Ships &amp; &quot;quays&quot; aren&#39;t <em class='x'>wet</em>"
PLAIN = 'Ships & "quays" aren\'t wet'


def test_entities_are_decoded_once_and_tags_taken_away_in_every_member_and_form() -> None:
    marked = review(
        claimReviewed=MARKED,
        reviewRating={"alternateName": "Mostly&nbsp;False"},
        author={"name": "Checks &amp; <b>Balances</b>"},
        headline="No,&#x20;<i>they</i><br>are &amp;amp; not",
    )
    got = item(marked)
    assert (got.claim, got.rating_given, got.rating) == (PLAIN, "Mostly False", ClaimRating.MOSTLY_FALSE)
    assert (got.publisher, got.title) == ("Checks & Balances", "No, they are &amp; not")
    assert item([row(claim=MARKED)]).claim == PLAIN
    assert item(f"claim\trating\turl\n{MARKED}\tFalse\t{URL}\n".encode()).claim == PLAIN
    search = {"claims": [{"text": MARKED, "claimReview": [{"url": URL, "textualRating": "Fal&#115;e"}]}]}
    assert (item(search).claim, item(search).rating) == (PLAIN, ClaimRating.FALSE)


def test_an_item_that_was_imported_with_its_markup_keeps_its_id() -> None:
    assert item(review(claimReviewed=MARKED)).item_id == published.derived_id(URL, MARKED)


@pytest.mark.parametrize(
    "text",
    [
        "AT&T",
        "Q & A",
        "5 < 6 and 7 > 2",
        "I <3 you",
        "profit&notable",
        "a <b and c> d",
        "&nosuchentity;",
        "<y>",
    ],
)
def test_plain_text_with_signs_of_markup_stays_as_it_is(text: str) -> None:
    assert published.plain(text) == text


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        ("2024-03-12", "2024-03-12"),
        ("2024-03-12T23:30:00Z", "2024-03-12"),
        ("2024-03-12T23:30:00.000+0000", "2024-03-12"),
        ("2024/3/12", "2024-03-12"),
        ("20240312", "2024-03-12"),
        (" 12  March 2024 ", "2024-03-12"),
        ("12th of March, 2024", "2024-03-12"),
        ("March 12, 2024", "2024-03-12"),
        ("Mar. 12th 2024, 10:30 AM", "2024-03-12"),
        ("Tuesday, March 12, 2024", "2024-03-12"),
        ("Tue, 12 Mar 2024 10:00:00 GMT", "2024-03-12"),
        ("Published 12 March 2024", "2024-03-12"),
        ("12-Mar-2024", "2024-03-12"),
        ("12.03.2024", "2024-03-12"),
        ("12. 3. 2024", "2024-03-12"),
        ("25/03/2024", "2024-03-25"),
        ("03/25/2024", "2024-03-25"),
        ("05/05/2024", "2024-05-05"),
        ("12. März 2024", "2024-03-12"),
        ("1er avril 2024", "2024-04-01"),
        ("12 de marzo de 2024", "2024-03-12"),
        ("12 марта 2024 г.", "2024-03-12"),
        ("2024年3月12日", "2024-03-12"),
        ("03/04/2024", None),
        ("31.02.2024", None),
        ("12 Smarch 2024", None),
        ("March 2024", None),
        ("12/03/24", None),
        ("yesterday", None),
        ("", None),
        ("9" * 100_000, None),
    ],
)
def test_dates_are_read_as_people_write_them_and_never_guessed(given: str, read_as: str | None) -> None:
    assert published.read_date(given) == (date.fromisoformat(read_as) if read_as else None)


def test_a_date_that_cannot_be_read_is_said_and_the_item_imported_without_it(
    wiring: Wiring, jobs: InlineEngine, cast: Cast
) -> None:
    dates = ["12 March 2024", "some time\n ago", "03/04/2024", 1_710_000_000, None, "  "]
    content = "\n".join(
        json.dumps(row(claim=f"Claim {number}", reviewed_on=given)) for number, given in enumerate(dates)
    )
    begun = begin(wiring, SYSTEM, cast, content.encode(), dataset_name="d", after_reading=AfterReading.STORE)
    jobs.run_all()
    with wiring.database.reading() as session:
        begun = session.get_one(DatasetImport, begun.id)
        assert (begun.state, begun.stored, begun.refused) == (ImportState.FINISHED, 6, 0)
        assert [(row.place, row.why) for row in imports.undated(session, begun)] == [
            ("line 2", "its date cannot be read: some time ago"),
            ("line 3", "its date cannot be read: 03/04/2024"),
            ("line 4", "its date cannot be read: 1710000000"),
        ]
        assert imports.refusals(session, begun) == []


def test_addresses_are_taken_with_white_space_around_and_capitals_and_refused_for_a_space_within() -> None:
    given = {
        " https://checks.example.org/a\n": "https://checks.example.org/a",
        "HTTPS://checks.example.org/B": "https://checks.example.org/B",
        "\thttp://checks.example.org/فحص": "http://checks.example.org/فحص",
        "https://checks.example.org/a|b": "https://checks.example.org/a|b",
    }
    for url, taken in given.items():
        assert item([row(url=url)]).url == taken
        assert item(review(url=url)).url == taken
    assert (
        item(review(url=None, **{"@id": "HTTPS://checks.example.org/i"})).url
        == "https://checks.example.org/i"
    )
    same = {item([row(url=url)]).item_id for url in (URL, f" {URL}", URL.replace("https", "Https"))}
    assert len(same) == 1, "one address, however it is written"
    refusals = {
        "https://checks.example.org/a b": "url must not contain a space or a line break; write a space as %20",
        "https://checks.example.org/a\nb": "url must not contain a space or a line break; write a space as %20",
        "ftp://checks.example.org/": "url must be an address that begins with https:// or http://",
        "javascript://alert(1)": "url must be an address that begins with https:// or http://",
    }
    for url, why in refusals.items():
        (fault,) = read(json.dumps([row(url=url)]).encode())
        assert isinstance(fault, Fault)
        assert fault.reasons == (why,)


def page(charset: str, claim: str, declared: str = '<meta charset="{}">') -> bytes:
    script = json.dumps(review(claimReviewed=claim), ensure_ascii=False)
    head = declared.format(charset)
    return f'<!doctype html>{head}<script type="application/ld+json">{script}</script>'.encode(charset)


GERMAN, RUSSIAN, JAPANESE = (
    "Hafenschlamm heilt Übelkeit für „immer“",
    "Грязь лечит простуду",
    "泥は風邪を治す",
)
EQUIVALENT = '<meta http-equiv=Content-Type content="text/html; charset={}">'


@pytest.mark.parametrize(
    ("charset", "claim", "declared"),
    [
        ("iso-8859-1", "Hafenschlamm heilt Übelkeit", '<meta charset="{}">'),
        ("windows-1252", GERMAN, '<meta charset="iso-8859-1">'),
        ("windows-1251", RUSSIAN, EQUIVALENT),
        ("koi8-r", RUSSIAN, "<meta charset={}>"),
        ("shift_jis", JAPANESE, "<meta charset='{}'>"),
        ("gb18030", "泥巴能治感冒", '<META CHARSET="GB2312">'),
        ("utf-8", GERMAN, '<meta charset="iso-8859-1">'),
        ("utf-8-sig", GERMAN, ""),
    ],
)
def test_a_page_is_read_in_the_character_set_that_it_declares(
    charset: str, claim: str, declared: str
) -> None:
    assert item(page(charset, claim, declared)).claim == claim


def test_unknown_character_sets_and_utf_16_are_refused_in_words_of_their_own() -> None:
    for declared in ("", '<meta charset="zlib">', '<meta charset="idna">', '<meta charset="x-none">'):
        with pytest.raises(
            BadFile, match="The page is not UTF-8, and names no other character set that we know"
        ):
            read(page("windows-1251", RUSSIAN, declared))
    rows = json.dumps([row()]) + "\n"
    for charset in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        for content, name in ((rows, ""), (rows, "x.jsonl"), ("claim,rating,url\n", "x.csv"), ("<html>", "")):
            with pytest.raises(BadFile, match=r"^The file is UTF-16\. Save it as UTF-8$"):
                read(content.encode(charset), name)
    with pytest.raises(BadFile, match=r"^The file is not UTF-8$"):
        read(json.dumps([row(claim="Übel")], ensure_ascii=False).encode("latin-1"))


@pytest.fixture
def fetch(wiring: Wiring, jobs: InlineEngine, cast: Cast) -> Callable[[Fetched], tuple[FeedOutcome, str]]:
    """Fetches a feed and runs its import: the outcome and problem of the fetch."""
    fetcher = wiring.feeds = Fetcher()
    added: list[DatasetFeed] = []

    def fetch(answer: Fetched) -> tuple[FeedOutcome, str]:
        fetcher.answer = answer
        if added:
            with wiring.database.writing() as session:
                feeds.fetch_now(session, SYSTEM, added[0].id)
        else:
            added.append(add_feed(wiring, SYSTEM, cast, FeedDraft(FEED, "d", publisher="P")))
        jobs.run_all()
        with wiring.database.reading() as session:
            check = feed_fetches.checks(session, added[0])[0]
            return check.outcome, check.problem

    return fetch


@pytest.mark.parametrize(
    ("content", "charset"),
    [
        (page("windows-1251", RUSSIAN, ""), "Windows-1251"),
        (page("windows-1251", RUSSIAN), ""),
        (page("utf-8", RUSSIAN), "ISO-8859-1"),
        (f"claim;rating;url\n{RUSSIAN};False;{URL}\n".encode("windows-1251"), "windows-1251"),
        (json.dumps(review(claimReviewed=RUSSIAN), ensure_ascii=False).encode(), "windows-1251"),
    ],
)
def test_a_feed_is_read_in_the_character_set_that_its_server_says(
    wiring: Wiring, fetch: Callable[[Fetched], tuple[FeedOutcome, str]], content: bytes, charset: str
) -> None:
    assert fetch(Fetched(content, charset=charset)) == (FeedOutcome.IMPORTED, "")
    with wiring.database.reading() as session:
        stored = session.scalars(sa.select(DatasetImport)).one()
        assert (stored.added, stored.refused, stored.state) == (1, 0, ImportState.FINISHED)


@pytest.mark.both_databases
def test_a_feed_whose_import_brings_nothing_says_so_and_is_fetched_again_soon(
    wiring: Wiring, fetch: Callable[[Fetched], tuple[FeedOutcome, str]]
) -> None:
    good = Fetched(json.dumps(row()).encode() + b"\n", etag='"good"')

    def feed() -> tuple[int, int, str | None]:
        with wiring.database.reading() as session:
            one = session.scalars(sa.select(DatasetFeed)).one()
            return one.failures, round((one.due_at - clock.now()).total_seconds() / 60), one.etag

    assert fetch(good) == (FeedOutcome.IMPORTED, "")
    assert feed() == (0, 24 * 60, '"good"')
    for number, (content, problem, minutes) in enumerate(
        (
            (b'{"@type": "ClaimReview",', "The file is malformed JSON: expecting property name", 15),
            (
                b"<html>" + page("ascii", "x").replace(b"ld+json", b"json"),
                "The page has no script of the type",
                15,
            ),
            (b"{}\n{}\n", "All of its fact-checks were refused: see the report.", 15),
        ),
        start=1,
    ):
        outcome, said = fetch(Fetched(content, etag='"bad"'))
        assert (outcome, said[: len(problem)]) == (FeedOutcome.FAILED, problem)
        assert feed() == (number, minutes, None), "the next fetch reads it again"
    advance(minutes=16)
    assert fetch(good) == (FeedOutcome.IMPORTED, "")
    assert feed()[::2] == (0, '"good"')
