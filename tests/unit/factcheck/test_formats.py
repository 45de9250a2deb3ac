"""Files of fact-checks in every form: what is read of them, and what is said of the rest."""

import gzip
import io
import json
import time
from typing import Any

import pytest

from app.core.factcheck import columns, formats, ratings, reading
from app.core.factcheck.formats import Reading
from app.core.factcheck.items import Item
from app.core.factcheck.published import Defaults, Fault, Found
from app.core.factcheck.reading import BadFile
from app.core.vocabulary import ClaimRating as R
from app.core.vocabulary import ImportFormat

CLAIM = "Seawater cures diabetes within two weeks"
URL = "https://checks.example.org/seawater"
DEFAULTS = Defaults(dataset_name="feed")


def review(**more: Any) -> dict[str, Any]:
    return {
        "@context": "https://schema.org",
        "@type": "ClaimReview",
        "claimReviewed": CLAIM,
        "url": URL,
        "author": {"@type": "Organization", "name": "Example Checks"},
        "reviewRating": {"@type": "Rating", "alternateName": "False", "ratingValue": 1, "bestRating": 5},
        "datePublished": "2026-03-14T10:00:00+00:00",
        **more,
    }


def read(content: Any, name: str = "", **how: Any) -> list[Found | Fault]:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    file = io.BytesIO(raw)
    kind = reading.detect(file, name)
    if kind is ImportFormat.CSV and "columns" not in how:
        how["columns"] = columns.guess(columns.head(file).headers)
        file.seek(0)
    return list(formats.distinct(file, Reading(kind, how.pop("defaults", DEFAULTS), **how)))


def items(content: Any, name: str = "", **how: Any) -> list[Item]:
    found = read(content, name, **how)
    assert all(isinstance(one, Found) for one in found), found
    return [one.item for one in found if isinstance(one, Found)]


def faults(content: Any, name: str = "") -> list[tuple[str, str]]:
    return [(one.place, "; ".join(one.reasons)) for one in read(content, name) if isinstance(one, Fault)]


PAGE = (
    "<!doctype html><title>x</title><SCRIPT>var a = '<b>';</SCRIPT>"
    '<script type="application/ld+json">%s</script><p>text</p>'
    '<script id=1 type=\'application/ld+json\'>{"@type": "WebPage"}</script>'
)
DOCUMENTS = {
    "object": review(),
    "array": [review()],
    "graph": {
        "@graph": [
            {"@id": "#org", "@type": "Organization", "name": "Example Checks"},
            review(author={"@id": "#org"}),
        ]
    },
    "feed": {"@type": "DataFeed", "dataFeedElement": [{"@type": "DataFeedItem", "item": [review()]}]},
    "article": {"@type": "NewsArticle", "review": review(**{"@type": ["Review", "schema:ClaimReview"]})},
    "page": (PAGE % json.dumps(review())).encode(),
    "lines": f"{json.dumps(review())}\n\n".encode() + b"{}",
    "values": review(
        claimReviewed={"@value": CLAIM, "@language": "en"}, author=[{"name": "Example Checks"}], url=[URL]
    ),
    "claim elsewhere": review(claimReviewed=None, itemReviewed={"@type": "Claim", "name": CLAIM}),
    "search": {
        "claims": [
            {
                "text": CLAIM,
                "claimReview": [
                    {
                        "publisher": {"name": "Example Checks", "site": "checks.example.org"},
                        "url": URL,
                        "textualRating": "False",
                        "reviewDate": "2026-03-14T10:00:00Z",
                        "languageCode": "en",
                    }
                ],
            }
        ]
    },
    "csv": f"Claim reviewed;Verdict;Link;Author;Date\n{CLAIM};False;{URL};Example Checks;2026-03-14\n".encode(),
}


@pytest.mark.parametrize("form", DOCUMENTS)
def test_the_same_fact_check_is_read_from_every_form(form: str) -> None:
    content = DOCUMENTS[form]
    found = [one for one in read(content, "x.jsonl" if form == "lines" else "") if isinstance(one, Found)]
    (item,) = [one.item for one in found]
    assert (item.claim, item.url, item.publisher, item.rating) == (CLAIM, URL, "Example Checks", R.FALSE)
    assert (item.rating_given, item.dataset_name, str(item.reviewed_on)) == ("False", "feed", "2026-03-14")
    # The id is derived from address and claim, so it is the same in every form and after every reading.
    assert item.item_id == items(review())[0].item_id
    assert len(item.item_id) <= 36


def test_ids_are_kept_as_given_and_long_ones_shortened_always_in_the_same_way() -> None:
    assert items(review(identifier="A-7"))[0].item_id == "A-7"
    assert items(review(identifier={"@type": "PropertyValue", "value": "  "}, **{"@id": "_:b0"}))[
        0
    ].item_id == (items(review())[0].item_id)
    name = "https://checks.example.org/" + "x" * 60
    long, again = items(review(**{"@id": name})), items(review(claimReviewed="Another", **{"@id": name}))
    assert long[0].item_id == again[0].item_id != items(review())[0].item_id
    assert len(long[0].item_id) == 32


@pytest.mark.parametrize(
    ("rating", "given", "meaning"),
    [
        ({"alternateName": "Mostly False", "ratingValue": 1}, "Mostly False", R.MOSTLY_FALSE),
        ({"alternateName": "Quatre Pinocchios", "ratingValue": "1"}, "Quatre Pinocchios", R.FALSE),
        (
            {"alternateName": "Hmm", "ratingValue": 2, "worstRating": 1, "bestRating": 5},
            "Hmm",
            R.MOSTLY_FALSE,
        ),
        (
            {"alternateName": "Hmm", "ratingValue": "3", "worstRating": "1", "bestRating": "5"},
            "Hmm",
            R.MIXTURE,
        ),
        (
            {"alternateName": "Hmm", "ratingValue": 0.8, "worstRating": 0, "bestRating": 1},
            "Hmm",
            R.MOSTLY_TRUE,
        ),
        ({"alternateName": "Hmm", "ratingValue": 1, "worstRating": 5, "bestRating": 1}, "Hmm", R.TRUE),
        ({"ratingValue": 5}, "5 on a scale from 1 to 5", R.TRUE),
        ({"ratingValue": "Faux"}, "Faux", R.FALSE),
        ({"alternateName": "Hmm", "ratingValue": -1, "worstRating": -1, "bestRating": -1}, "Hmm", None),
        ({"alternateName": "Hmm", "ratingValue": 9, "bestRating": 5}, "Hmm", None),
        ({"alternateName": "Hmm", "ratingValue": 10**400}, "Hmm", None),
        ({"alternateName": "Hmm", "ratingValue": True}, "Hmm", None),
        ({"alternateName": "Hmm"}, "Hmm", None),
    ],
)
def test_a_rating_is_its_words_or_else_its_number(
    rating: dict[str, Any], given: str, meaning: R | None
) -> None:
    (item,) = items(review(reviewRating=rating))
    assert (item.rating_given, item.rating) == (given, meaning)


@pytest.mark.parametrize(
    ("term", "meaning"),
    [
        ("False. The photo is from 2015", R.FALSE),
        ("Misleading: it leaves out the year", R.MISLEADING),
        ("True. But it leaves out the year", None),
        ("Größtenteils falsch", R.MOSTLY_FALSE),
        ("ENGAÑOSO", R.MISLEADING),
        ("Plutôt vrai", R.MOSTLY_TRUE),
        ("フェイク", None),
        ("误导", R.MISLEADING),
        ("भ्रामक", R.MISLEADING),
        ("झूठ", R.FALSE),
        ("مضلل", R.MISLEADING),
        ("Правда", R.TRUE),
        ("假", R.FALSE),
        ("屬實", R.TRUE),
        ("デマ", R.FALSE),
        ("가짜", R.FALSE),
        ("خاطئ", R.FALSE),
        ("ग़लत", R.FALSE),
        ("Engañosa", R.MISLEADING),
        ("Exagerado", R.MISLEADING),
        ("C’est faux !", R.FALSE),
        ("Unbestätigt", R.UNPROVEN),
        ("Infondato", R.UNPROVEN),
        ("Półprawda", R.MIXTURE),
        ("YANLIŞ", R.FALSE),
        ("Keliru", R.FALSE),
        ("not false", None),
        ("...", None),
    ],
)
def test_terms_of_other_languages_and_terms_with_reasons(term: str, meaning: R | None) -> None:
    assert ratings.by_words(term) is meaning


def test_what_cannot_be_imported_is_named_by_its_place_with_a_sentence() -> None:
    bad = [review(), review(url="javascript:alert(1)"), review(reviewRating={}), review(claimReviewed="  ")]
    assert faults([*bad, review()]) == [
        ("review 2", "url must be an address that begins with https:// or http://"),
        ("review 3", "rating is missing"),
        ("review 4", "claim is missing"),
        ("review 5", "item_id is that of review 1 too"),
    ]
    claims = [{"text": "x"}, 7, {"text": CLAIM, "claimReview": [{"url": URL}, 3]}]
    assert faults({"claims": claims}) == [
        ("claim 1", "it has no claimReview"),
        ("claim 2", "it has no claimReview"),
        ("claim 3, review 1", "rating is missing"),
        ("claim 3, review 2", "it must be an object"),
    ]
    broken = (PAGE % '{"@type": "ClaimReview",').encode()
    ((place, why),) = faults(broken)
    assert place == "script 1"
    assert why.startswith("its JSON-LD is malformed: expecting property name")
    table = b"id,claim,rating,url,publisher,extra\n1,a\n\n2,b,False,https://a.example/,P,,,\n3,,,nowhere,P,\n"
    assert faults(table) == [
        ("line 2", "rating is missing; url is missing; publisher is missing"),
        ("line 4", "it has 8 cells, but there are 6 columns"),
        (
            "line 5",
            "claim is missing; rating is missing; url must be an address that begins with https:// or http://",
        ),
    ]


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (b'{"@type": "ClaimReview", ', "", "The file is malformed JSON: expecting property name"),
        (b"[" * 100_000, "", "The file is not JSON that can be read: it is nested too deeply"),
        (b'{"@type": "WebPage"}', "", "it holds no ClaimReview, no claims and no rows"),
        (b'{"a": "\xff"}', "", "The file is not UTF-8"),
        (b"<html><p>nothing</p>", "", "The page has no script of the type application/ld+json"),
        (b"<html>" + b"x" * 20_000_000, "", "The file is a web page larger than 5 MB"),
        ("claim,rating,url\nü,False,https://a.example/".encode("latin-1"), "", "It is not UTF-8"),
        (b"only one column\n1\n", "", "It is not a CSV file"),
        (b"claim,claim,url\n1,2,3\n", "", "Two of its columns are called “claim”"),
        (b'claim,rating,url\n"' + b"x" * 200_000, "", "It cannot be read as CSV after line 2"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_is_refused_with_a_sentence(
    content: bytes, name: str, sentence: str
) -> None:
    with pytest.raises(BadFile) as refused:
        read(content, name)
    assert sentence in str(refused.value)


def test_a_hostile_page_takes_no_longer_than_it_is_long() -> None:
    began = time.process_time()
    for piece in (b"<script ", b"<script>", b'<script type="application/ld+json">', b"<!--", b"</script"):
        list(reading.scripts(piece * (1_000_000 // len(piece))))
    assert time.process_time() - began < 20, "what takes the square of the length takes hours"


def test_compressed_files_are_unpacked_up_to_a_limit() -> None:
    packed = gzip.compress(b"x" * 5_000)
    assert b"".join(reading.unpacked([packed[:9], packed[9:]])) == b"x" * 5_000
    for content, sentence in (
        (gzip.compress(b"x" * 5_000_000), "larger than 1 MB when it is unpacked"),
        (packed[:-9], "cut off"),
        (b"\x1f\x8bnonsense", "damaged"),
    ):
        with pytest.raises(BadFile, match=sentence):
            list(reading.unpacked([content], 1_048_576))


def test_texts_in_other_scripts_are_read_as_they_are() -> None:
    claims = [
        "海水可以治愈糖尿病",
        "شرب مياه البحر يشفي من مرض السكري",
        "समुद्र का पानी मधुमेह ठीक करता है",
        "💧 cures 🩸",
    ]
    table = "claim\trating\turl\n" + "".join(f"{claim}\tFalse\t{URL}\n" for claim in claims)
    found = items(table.encode("utf-8-sig"), defaults=Defaults("d", "P"))
    assert [item.claim for item in found] == claims
    assert len({item.item_id for item in found}) == len(claims)
    assert [item.claim for item in items([review(claimReviewed=claim) for claim in claims])] == claims


def test_columns_are_guessed_from_headers() -> None:
    headers = ["ID", "Claim Reviewed", "Textual rating", "Review URL", "Publisher name", "notes", "Language"]
    assert columns.guess(headers) == {
        "item_id": "ID",
        "claim": "Claim Reviewed",
        "rating": "Textual rating",
        "url": "Review URL",
        "publisher": "Publisher name",
        "language": "Language",
    }
    assert columns.guess(["a", "b", "c"]) == {}
