"""The exported files open in spreadsheets: in the right encoding, and nothing in them runs."""

import codecs
from collections.abc import Callable

import pytest

from app.web.csv_files import cell
from tests.cast import Cast, Person
from tests.web.conftest import Visitor

FORMULAS = (
    *(
        "=1+1",
        "+1",
        "-5",
        "@SUM(A1)",
        "\t=1+1",
        "\r=1+1",
        "\n=1+1",
        "\tplain",
        "\rplain",
        "\nplain",
        "\x00=1",
    ),
    *("\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20SUM", "\ufe661", "\ufe62a", "\ufe63a", "\ufe6ba"),
    *(" =1", "\u3000\uff1d1", "\xa0+1", "\u200b=1", "\ufeff=1", "\u202e@x", " \n \u2060-1", "\x85=1"),
)
PLAIN = ("", "1+1", "a=b", "'tis", "''", " words", "\u22125", "2026-01-01", "\u6f22\u5b57", "\u200bword")


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_would_run_has_an_apostrophe_before_it(text: str) -> None:
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("text", PLAIN)
def test_other_text_is_a_cell_as_it_is(text: str) -> None:
    assert cell(text) == text


def test_no_two_ids_are_the_same_cell_and_each_can_be_read_back() -> None:
    ids = [f"{before}{text}" for text in (*FORMULAS, *PLAIN) for before in ("", "'", "''", "'''")]
    distinct = set(ids)
    assert len({cell(one) for one in distinct}) == len(distinct)
    for one in distinct:
        assert one in (cell(one), cell(one)[1:])


@pytest.mark.parametrize(
    "path", ["/history.csv", "/history/settings.csv", "/insights.csv?table=volume", "/datasets/sample.csv"]
)
def test_every_file_begins_with_a_byte_order_mark(
    path: str, visit: Callable[[Person | None], Visitor], cast: Cast
) -> None:
    answer = visit(cast.operator).get(path)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.data.startswith(codecs.BOM_UTF8)
    assert answer.data.count(codecs.BOM_UTF8) == 1
    assert len(answer.data.decode("utf-8-sig").splitlines()) >= 1
