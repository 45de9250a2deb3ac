"""Each language has a translation of every text, with its values (docs/translating.md)."""

import re
import subprocess

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from app.adapters.languages import FOLDER, NAME
from app.core import texts
from tests.house.source import ROOT

_VALUES = re.compile(r"%\(\w+\)s|%%|</?[a-z]+")
"""What a translation must have as its message has it, in any order: values, percent signs and tags."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """All texts of the source."""
    path = tmp_path_factory.mktemp("texts") / "texts.pot"
    subprocess.run([ROOT / "scripts" / "messages", path], check=True, timeout=120, cwd=ROOT)
    with path.open("rb") as file:
        return read_po(file)


@pytest.mark.parametrize("language", sorted(texts.NAMES.keys() - {texts.SOURCE}))
def test_a_language_is_whole_and_lost_no_value(template: Catalog, language: str) -> None:
    with (FOLDER / language / NAME).open("rb") as file:
        translated = {(one.id, one.context): one for one in read_po(file, locale=language.replace("-", "_"))}
    wrong = []
    for message in template:
        if not message.id:
            continue
        found = translated.get((message.id, message.context))
        ids = (message.id,) if isinstance(message.id, str) else message.id
        strings = () if found is None else (found.string,) if isinstance(found.string, str) else found.string
        if not strings or not all(strings) or "fuzzy" in found.flags:
            wrong.append(f"{ids[0]}: not translated (make messages)")
        elif not all(
            sorted(_VALUES.findall(text)) in [sorted(_VALUES.findall(one)) for one in ids] for text in strings
        ):
            wrong.append(f"{ids[0]}: other values in {strings}")
    assert not wrong, "\n".join(wrong)
    assert len(translated) > 4_000
