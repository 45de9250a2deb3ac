"""Labelled texts for training, read from a file of JSON lines."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.commands.files import lines
from app.core.classify.corpus import Example

CATEGORIES = ("toxicity", "hate", "threat", "sexual", "self_harm", "spam", "pii")
"""The categories of the model, in the order of its arrays: all shipped ones except misinformation."""


class BadLine(Exception):
    """A line of the file is not a labelled text."""


def read_examples(path: Path) -> list[Example]:
    """The examples of a file, each line ``{"text", "labels", "source", "lang"}``; gzipped or not.

    Raises:
        BadLine: with the line's number and what is wrong.
    """
    return [_example(number, line) for number, line in lines(path)]


def json_lines(path: Path) -> Iterator[Any]:
    """The values of a file of JSON lines. Raises DamagedFile, and ValueError where a line is not JSON."""
    return (json.loads(line) for _number, line in lines(path))


def _example(number: int, line: bytes) -> Example:
    try:
        row = json.loads(line)
        labels = {name: int(label) for name, label in row["labels"].items() if name in CATEGORIES}
        example = Example(row["text"], labels, row["source"], row.get("lang", "en"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadLine(f"line {number} is no labelled text: {error!r}") from error
    if not isinstance(example.text, str) or not set(labels.values()) <= {0, 1}:
        raise BadLine(f"line {number}: the text must be a string and every label 0 or 1")
    return example
