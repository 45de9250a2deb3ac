"""The list of pages that AI notes may cite: what a line may contain."""

import pytest

from app.core.communities import cited_pages
from app.core.communities.cited_pages import Page
from app.core.errors import Invalid

LONGEST = "https://a.example/" + "x" * (cited_pages.URL_MAX - 18)


def test_words_of_all_languages_are_taken_with_their_joiners() -> None:
    lines = [f"{LONGEST} Salt\traises\u00a0blood pressure", "https://b.example/نمک نمک می\u200cکشد"]
    assert cited_pages.parse("\n".join(lines)) == (
        Page(LONGEST, "Salt raises blood pressure"),
        Page("https://b.example/نمک", "نمک می\u200cکشد"),
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{LONGEST}x Salt", "addresses of at most 500 characters; that in line 2 has 501"),
        (f"{LONGEST * 5} Salt", "addresses of at most 500 characters; that in line 2 has 2,500"),
        ("https://a.example/\u202egnp.exe Salt", "must not contain invisible characters; line 2 does"),
        ("https://a.example/sa\u200clt Salt", "must not contain invisible characters; line 2 does"),
        ("https://a.example/salt Salt is \u2066good", "must not contain invisible characters; line 2 does"),
        ("https://a.example/salt Salt is\u200b good", "must not contain invisible characters; line 2 does"),
    ],
)
def test_long_addresses_and_invisible_characters_are_refused_with_their_line(line: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        cited_pages.parse(f"https://ok.example/x Fine\n{line}")
    (problem,) = refused.value.problems
    assert said in problem.msg
