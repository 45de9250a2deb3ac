"""The sentences written for this project, which fill what public data lack (docs/run/model-card.md).

Files ``corpus/*.txt`` hold sections of templates, one sentence a line:

    @slot = one filling | another          a list that templates of this file name in braces
    [name | toxicity=1 hate=0 lang=de]     a section: its name, its labels, its language (English without one)
    You are an {slot}.                     a template

A template gives up to `FILLINGS` sentences. Choices depend on the template's text alone, so that the same files give
the same sentences on every machine, and a new template changes no other.

`SAMPLES` are texts with known scores, which ``corpus/samples.toml`` describes.
"""

import itertools
import random
import re
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

FILLINGS = 20
_FOLDER = resources.files("app.core.classify").joinpath("corpus")
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its labels: 0 or 1 by category; a category without a label is unknown.

    ``template``: the template that the text was made from; "" for a text without a template.
    """

    text: str
    labels: Mapping[str, int]
    source: str
    language: str
    template: str = ""


def own_examples() -> list[Example]:
    """All sentences of the corpus, in order of the files' names."""
    files = sorted((file for file in _FOLDER.iterdir() if file.name.endswith(".txt")), key=lambda f: f.name)
    return [example for file in files for example in read_corpus(file.read_text(encoding="utf-8"))]


def harmless(category: str, most: int) -> list[str]:
    """Up to this many sentences of ordinary talk, which have no label of 1, evenly from the whole corpus.

    They are those whose label for this category is 0; for a category that the corpus has no label for, all.
    """
    found = [example for example in own_examples() if not any(example.labels.values())]
    chosen = [example for example in found if category in example.labels] or found
    return [example.text for example in chosen[:: max(1, -(-len(chosen) // most))]]


def read_corpus(text: str) -> Iterator[Example]:
    """The sentences of one file.

    Raises:
        ValueError: a line names an unknown slot, or stands before the first section.
    """
    slots: dict[str, list[str]] = {}
    name, language = "", "en"
    labels: dict[str, int] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("@"):
            slot, _, fillings = line[1:].partition("=")
            slots[slot.strip()] = [filling.strip() for filling in fillings.split("|")]
        elif line.startswith("["):
            name, labels, language = _section(line)
        elif not name:
            raise ValueError(f"{line!r} stands before the first section")
        else:
            for sentence in _sentences(line, slots):
                yield Example(sentence, labels, f"own:{name}", language, line)


def _section(line: str) -> tuple[str, dict[str, int], str]:
    name, _, rest = line.strip("[] ").partition("|")
    pairs = dict(pair.split("=") for pair in rest.split())
    language = pairs.pop("lang", "en")
    return name.strip(), {category: int(label) for category, label in pairs.items()}, language


def _sentences(template: str, slots: Mapping[str, list[str]]) -> list[str]:
    names = list(dict.fromkeys(_SLOT.findall(template)))
    for name in names:
        if name not in slots:
            raise ValueError(f"{template!r} names the unknown slot {name!r}")
    filled = list(itertools.product(*(slots[name] for name in names)))
    if len(filled) > FILLINGS:
        filled = random.Random(zlib.crc32(template.encode())).sample(filled, FILLINGS)  # noqa: S311 # no secret
    sentences = (_SLOT.sub(lambda slot, f=f: f[names.index(slot[1])], template) for f in filled)  # type: ignore[misc]
    return [_tidy(sentence) for sentence in sentences]


def _tidy(sentence: str) -> str:
    return sentence.strip()[:1].upper() + sentence.strip()[1:] if sentence[:1] == " " else sentence.strip()


def _samples() -> Mapping[str, tuple[str, ...]]:
    found = tomllib.loads(_FOLDER.joinpath("samples.toml").read_text(encoding="utf-8"))
    return {name: tuple(texts) for name, texts in found.items()}


SAMPLES = _samples()
