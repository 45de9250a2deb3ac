"""Files made to cost much more than their size: what reading them takes is bounded, and what is refused says why."""

import gzip
import io
import json
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.core.factcheck import (
    columns,
    documents,
    formats,
    import_steps,
    imports,
    published,
    reading,
)
from app.core.factcheck.formats import Reading
from app.core.factcheck.published import Defaults, Fault, Found
from app.core.factcheck.reading import BadFile
from app.core.models import DatasetImport
from app.core.permissions import SYSTEM
from app.core.vocabulary import AfterReading, ImportFormat, ImportState
from app.jobs import fact_checks, upkeep
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.unit.factcheck.importing import Killed, begin, reread, rows_left

MEGABYTE = 1_048_576
REVIEW: dict[str, Any] = {
    "@type": "ClaimReview",
    "claimReviewed": "Seawater cures diabetes within two weeks",
    "url": "https://checks.example.org/seawater",
    "author": {"name": "Example Checks"},
    "reviewRating": {"alternateName": "False"},
}
MANY = "The file holds more than 100,000 fact-checks"
SCRIPT = b'<script type="application/ld+json">'


def read(content: bytes, name: str = "", most: int | None = imports.ITEMS_MAX) -> list[Found | Fault]:
    """Read a file, unpacked if it is compressed, as an import does: from the disk."""
    beginning, _ = reading.read_beginning(reading.unpacked([content]))
    kind = reading.detect(io.BytesIO(beginning), name)
    chosen = {}
    if kind is ImportFormat.CSV:
        chosen = columns.guess(columns.head(io.BytesIO(beginning)).headers)
    with tempfile.TemporaryFile() as file:
        for chunk in reading.unpacked([content]):
            file.write(chunk)
        file.seek(0)
        return list(formats.distinct(file, Reading(kind, Defaults("d", "P"), chosen, most)))


BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "a list of empty lists": (lambda: b"[" + b"[]," * 4_000_000 + b"[]]", MANY),
    "a list of numbers": (lambda: b"[" + b"1.5," * 4_000_000 + b"1]", MANY),
    "empty lists a line": (lambda: b"{}\n" + b"[]\n" * 4_000_000, MANY),
    "empty claims": (lambda: b'{"claims":[' + b"{}," * 4_000_000 + b"{}]}", MANY),
    "one object with millions of names": (lambda: b"{" + b'"ab":1,' * 2_000_000 + b'"b":1}', MANY),
    "one in a list": (lambda: b"[{" + b'"ab":1,' * 2_000_000 + b'"b":1}]', MANY),
    "references": (lambda: b'{"@graph":[' + b'{"@id":"a","name":1},' * 500_000 + b"{}]}", MANY),
    "lists nested deeply": (lambda: b"[" * 5_000_000, "nested too deeply, more than 100 levels"),
    "objects nested deeply": (lambda: b'{"a":' * 1_000_000, "nested too deeply, more than 100 levels"),
    "large lists, each within many others": (
        lambda: b"[" + b",".join([b"[" * 95 + b"0," * 49_990 + b"0" + b"]" * 95] * 300) + b"]",
        "more than 10 large lists or objects are within each other",
    ),
    "a huge text": (lambda: b'["' + b"a" * 8 * MEGABYTE + b'"]', "has a text of more than 1 MB"),
    "a huge text of escapes without an end": (
        lambda: b'["' + b'\\"' * 4 * MEGABYTE,
        "a text of more than 1 MB",
    ),
    "a million columns": (lambda: b"claim,rating,url\n" + b"ab," * 2_000_000, "more than 20,000 cells"),
    "a million headers": (lambda: b"claim,rating,url" + b",ab" * 2_000_000, "more than 20,000 cells"),
    "a long header": (lambda: b"claim,rating,url," + b"a" * 5_000, "a name of more than 500 characters"),
    "tiny rows": (lambda: b"claim,rating,url\n" + b"a\n" * 4_000_000, MANY),
    "empty rows": (lambda: b"claim,rating,url\n" + b",,\n" * 1_500_000, "more than 1,000,000 empty rows"),
    "empty lines": (lambda: b"{}\n{}\n" + b"\n" * 4_000_000, "more than 1,000,000 empty lines"),
    "scripts": (lambda: b"<html>" + (SCRIPT + b"[</script>") * 105_000, MANY),
    "a script of empty lists": (
        lambda: b"<html>" + SCRIPT + b"[" + b"[]," * 1_500_000 + b"1]</script>",
        MANY,
    ),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_small_file_takes_little_memory_whatever_it_unpacks_to(bomb: str) -> None:
    make, sentence = BOMBS[bomb]
    packed = gzip.compress(make(), 1)
    # From here on the kernel notes the most memory that the process has.
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    with pytest.raises(BadFile) as refused:
        read(packed, "x.jsonl" if "line" in bomb else "")
    assert sentence in str(refused.value)
    assert peak() - before < 60 * MEGABYTE


def peak() -> int:
    """The most memory that this process had, in bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


def test_of_a_line_of_json_only_so_many_values_are_parsed() -> None:
    first, second = read(b'{"a": 1}\n[' + b"[]," * 50_000 + b"1]\n", "x.jsonl")
    assert isinstance(first, Fault)
    assert isinstance(second, Fault)
    assert second.reasons == ("row is not JSON that can be read: it has more than 50,000 values",)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document of some hundred bytes is a large one."""
    monkeypatch.setattr(documents, "PART_BYTES", 400)


def forms(reviews: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "array": reviews,
        "graph": {"@context": "https://schema.org", "@graph": reviews},
        "feed": {
            "name": "ü",
            "dataFeedElement": [{"item": [one]} for one in reviews],
            "more": {"a": [1, {}]},
        },
    }


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("form", ["array", "graph", "feed"])
@pytest.mark.parametrize("indent", [None, 4])
def test_a_large_document_has_the_same_items_as_small_ones(form: str, indent: int | None) -> None:
    reviews = [
        {**REVIEW, "claimReviewed": f'Claim {number} 💧 \\ " [{{', "author": {"@id": "#checks"}}
        for number in range(40)
    ]
    document = forms([*reviews, {"@id": "#checks", "@type": "Organization", "name": "Referred Checks"}])[form]
    found = read(json.dumps(document, indent=indent, ensure_ascii=False).encode("utf-8-sig"))
    assert [one.place for one in found] == [f"review {number}" for number in range(1, 41)]
    got = [one.item for one in found if isinstance(one, Found)]
    assert [item.claim for item in got] == [f'Claim {number} 💧 \\ " [{{' for number in range(40)]
    assert {item.publisher for item in got} == {"Referred Checks"}, "named after the reviews that refer to it"


@pytest.mark.usefixtures("small_parts")
def test_large_answers_of_a_search_and_large_lists_of_rows_are_read_too() -> None:
    review = {"url": REVIEW["url"], "textualRating": "False", "publisher": {"name": "P"}}
    claims = [{"text": f"Claim {number}", "claimReview": [review]} for number in range(20)]
    found = read(
        json.dumps({"claims": [*claims, 7, {"text": "x" * 300, "claimReview": [{"a": "b" * 90}]}]}).encode()
    )
    assert [one.place for one in found] == [f"claim {number}" for number in range(1, 23)]
    assert [one.reasons for one in found if isinstance(one, Fault)] == [
        ("it has no claimReview",),
        ("it is larger than 1 MB, or has too many values",),
    ]
    rows: list[Any] = [
        {"claim": f"Claim {number}", "rating": "False", "url": REVIEW["url"]} for number in range(20)
    ]
    found = read(json.dumps([*rows, "no row", {"claim": "x" * 300, "more": ["y" * 300]}]).encode())
    assert [one.place for one in found] == [f"row {number}" for number in range(1, 23)]
    assert [one.reasons for one in found if isinstance(one, Fault)] == [
        ("row must be an object",),
        ("it is larger than 1 MB, or has too many values",),
    ]
    with pytest.raises(BadFile, match="holds no ClaimReview, no claims and no rows"):
        read(json.dumps([["x" * 99]] * 20).encode())


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("spoilt", "sentence"),
    [
        (lambda text: text[:-1], "expecting ',' delimiter at line 44"),
        (lambda text: text + " x", "extra data at line 44, column 3"),
        (
            lambda text: text.replace('"Claim 30', '"Claim\t30', 1),
            "invalid control character at line 33, column ",
        ),
        (lambda text: text.replace('"rows"', "rows", 1), "expecting property name enclosed in double quotes"),
        (lambda text: text.replace('"rows":', '"rows"', 1), "expecting ':' delimiter at line 2, column 7"),
        (lambda text: text.replace("\n]", ",\n]", 1), "expecting value at line 43, column 1"),
    ],
)
def test_where_a_large_document_is_malformed_is_said(spoilt: Callable[[str], str], sentence: str) -> None:
    rows = ",\n".join(json.dumps({"claim": f"Claim {number} ü"}, ensure_ascii=False) for number in range(40))
    text = '{\n"rows":[\n' + rows + "\n]\n}"
    with pytest.raises(BadFile) as refused:
        read(spoilt(text).encode())
    assert "The file is malformed JSON: " in str(refused.value)
    assert sentence in str(refused.value)


def test_a_small_document_is_malformed_in_plain_words() -> None:
    for content, sentence in (
        (b'{"a": "b\tc"}', "The file is malformed JSON: invalid control character at line 1, column 9"),
        (b'{"a": "b', "The file is malformed JSON: unterminated string starting at line 1, column 7"),
        (b'{"a": 1} 2', "The file is malformed JSON: extra data at line 1, column 10"),
        (b'{"a": 1' + b"0" * 5_000 + b"}", "The file is not JSON that can be read: it has a huge number"),
    ):
        with pytest.raises(BadFile) as refused:
            read(content)
        assert str(refused.value) == sentence
    (fault,) = read(b'{"a": "b\tc"}\n', "x.jsonl")
    assert isinstance(fault, Fault)
    assert fault.reasons == ("row is not JSON: Invalid control character at character 9",)


def test_patterns_take_no_longer_than_texts_are_long() -> None:
    began = time.process_time()
    for text in ("<a ", '<a x="', "<p" + " a" * 500, "&", "<", "<p  ", "<a b='", "&#1"):
        published.plain(text * (50_000 // len(text)))
    tag = b"<script type=" + b" " * 1_980 + b">"
    list(reading.scripts(b"<html>" + tag * 2_600))
    assert time.process_time() - began < 20, "what takes the square of the length takes hours"


def begin_storing(wiring: Wiring, cast: Cast, content: bytes) -> DatasetImport:
    return begin(
        wiring, SYSTEM, cast, content, dataset_name="d", publisher="P", after_reading=AfterReading.STORE
    )


def good(*numbers: int) -> bytes:
    return b"".join(
        json.dumps({**REVIEW, "claimReviewed": f"Claim {number}"}).encode() + b"\n" for number in numbers
    )


def test_a_file_with_too_many_items_is_refused_and_leaves_nothing(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "ITEMS_MAX", 120)
    begun = begin_storing(wiring, cast, gzip.compress(good(*range(121))))
    assert rows_left(wiring)[0] == 1, "a compressed file is kept as it is"
    jobs.run_all()
    begun = reread(wiring, begun)
    assert (begun.state, begun.stored) == (ImportState.FAILED, 0)
    assert begun.problem.startswith("The file holds more than 120 fact-checks. Split it")
    assert rows_left(wiring) == (0, 0)
    exact = begin_storing(wiring, cast, good(*range(120)))
    jobs.run_all()
    assert reread(wiring, exact).stored == 120


def test_refusals_are_kept_for_the_report_up_to_a_number_and_then_counted(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "REFUSALS_KEPT", 70)
    begun = begin_storing(wiring, cast, b"[]\n" * 300 + good(1, 2))
    fact_checks.run_import(wiring.database, begun.id)
    assert rows_left(wiring)[1] == 72, "they were never written"
    jobs.run_all()
    begun = reread(wiring, begun)
    assert (begun.state, begun.records, begun.refused, begun.stored) == (ImportState.FINISHED, 302, 300, 2)
    assert rows_left(wiring)[1] == 70


@pytest.mark.both_databases
def test_what_an_import_leaves_is_deleted_in_batches_and_after_a_restart(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_steps, "ROWS_BATCH", 20)
    begun = begin_storing(wiring, cast, good(*range(100)))
    fact_checks.run_import(wiring.database, begun.id)
    with wiring.database.writing() as session:
        imports.fail(session, begun.id, "It failed.")
    assert rows_left(wiring)[1] == 100, "nobody waits for them to go"
    whole, seen = import_steps.clear, []

    def dying(*given: Any) -> bool:
        if len(seen) == 2:
            raise Killed
        seen.append(rows_left(wiring)[1])
        return whole(*given)

    with monkeypatch.context() as patched:
        patched.setattr(import_steps, "clear", dying)
        with pytest.raises(Killed):
            fact_checks.run_import(wiring.database, begun.id)
    assert (seen, rows_left(wiring)[1]) == ([100, 80], 60)
    fact_checks.run_import(wiring.database, begun.id)
    assert rows_left(wiring) == (0, 0)


def test_the_daily_upkeep_clears_what_a_lost_job_left(wiring: Wiring, jobs: InlineEngine, cast: Cast) -> None:
    begun = begin_storing(wiring, cast, good(1, 2, 3))
    fact_checks.run_import(wiring.database, begun.id)
    with wiring.database.writing() as session:
        imports.fail(session, begun.id, "It failed.")
    waiting = begin_storing(wiring, cast, good(4))
    advance(days=1)
    upkeep.prune(wiring)
    assert rows_left(wiring) == (1, 0)
    assert reread(wiring, waiting).state is ImportState.READING
