"""Texts in a language: messages, plural forms, constants, numbers and times (docs/translating.md)."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.adapters.languages import NAME, TranslatedLanguage, known_languages
from app.core import texts
from app.core.texts import LazyText, gettext, lazy_gettext, ngettext, pgettext

CATALOGUE = """
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

msgid "Saved by %(name)s."
msgstr "Von %(name)s gespeichert."

msgid "Open"
msgstr "Öffnen"

msgctxt "of a note"
msgid "Open"
msgstr "Offen"

msgid "%(num)s post"
msgid_plural "%(num)s posts"
msgstr[0] "%(num)s Beitrag"
msgstr[1] "%(num)s Beiträge"

#, fuzzy
msgid "Later"
msgstr "Nie"
"""


@pytest.fixture
def german(tmp_path: Path) -> Iterator[TranslatedLanguage]:
    (tmp_path / "de").mkdir()
    (tmp_path / "de" / NAME).write_text(CATALOGUE, encoding="utf-8")
    language = known_languages(tmp_path)["de"]
    assert isinstance(language, TranslatedLanguage)
    with texts.chosen(language):
        yield language


def test_a_message_is_translated_and_its_values_filled_in(german: TranslatedLanguage) -> None:
    assert gettext("Saved by %(name)s.", name="Ada") == "Von Ada gespeichert."


def test_what_the_catalogue_lacks_or_nobody_checked_is_english(german: TranslatedLanguage) -> None:
    assert [gettext("Wait."), gettext("Later"), pgettext("of a door", "Open")] == ["Wait.", "Later", "Open"]


def test_the_context_tells_two_meanings_apart(german: TranslatedLanguage) -> None:
    assert [gettext("Open"), pgettext("of a note", "Open")] == ["Öffnen", "Offen"]
    assert f"{lazy_gettext('Open')}, {lazy_gettext('Open', 'of a note')}" == "Öffnen, Offen"


@pytest.mark.parametrize(("count", "words"), [(0, "0 Beiträge"), (1, "1 Beitrag"), (1_200, "1.200 Beiträge")])
def test_a_number_chooses_the_form_and_is_written_as_the_language_does(
    german: TranslatedLanguage, count: int, words: str
) -> None:
    assert ngettext("%(num)s post", "%(num)s posts", count) == words


@pytest.mark.parametrize("broken", [b"\xff\xfe garbage", CATALOGUE.encode().replace(b"(n != 1)", b"(n / )")])
def test_a_catalogue_that_cannot_be_read_is_english_and_named_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, broken: bytes
) -> None:
    file = tmp_path / "de" / NAME
    file.parent.mkdir()
    file.write_bytes(broken)
    language = known_languages(tmp_path)["de"]
    assert language.message("Open") == "Open"
    assert language.plural("%(num)s post", "%(num)s posts", 2) == "%(num)s posts"
    assert str(file) in caplog.text


def test_an_empty_text_stays_empty(german: TranslatedLanguage) -> None:
    assert [gettext(""), texts.stored("")] == ["", ""]


def test_only_english_writes_labels_in_sentences_in_lower_case(german: TranslatedLanguage) -> None:
    label = lazy_gettext("Open", "of a note")
    assert texts.in_sentence(label) == "Offen"
    with texts.chosen(None):
        assert texts.in_sentence(label) == "open"


def test_numbers_and_times_follow_the_language(german: TranslatedLanguage) -> None:
    assert [texts.number(1234.5, 2), texts.number(1234)] == ["1.234,50", "1.234"]
    assert [texts.short_number(0.55), texts.short_number(3.0)] == ["0,55", "3"]
    assert texts.moment(datetime(2026, 3, 9, 7, 5, tzinfo=UTC)) == "9. März 2026, 07:05"


def test_english_is_what_is_written() -> None:
    texts.choose(None)
    assert ngettext("%(num)s post", "%(num)s posts", 1_200) == "1,200 posts"
    assert gettext("%(share)s %% of %(name)s", share=5, name="all") == "5 % of all"
    assert texts.moment(datetime(2026, 3, 9, 7, 5, tzinfo=UTC)) == "9 Mar 2026, 07:05"


def test_a_constant_is_translated_where_it_is_shown_and_stored_in_english(german: TranslatedLanguage) -> None:
    label = lazy_gettext("Open")
    assert isinstance(label, LazyText)
    assert [f"{label}", str(label), label.__html__()] == ["Öffnen", "Öffnen", "Öffnen"]
    assert label == "Open"
    assert json.dumps({"label": label}) == '{"label": "Open"}'


def test_the_language_ends_with_its_block(german: TranslatedLanguage) -> None:
    with texts.chosen(None):
        assert gettext("Open") == "Open"
    assert gettext("Open") == "Öffnen"


def test_each_language_that_can_be_chosen_has_a_catalogue() -> None:
    assert known_languages().keys() == texts.NAMES.keys()
