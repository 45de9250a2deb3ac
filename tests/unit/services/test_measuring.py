"""A service is measured on an operator's examples: files that cannot be read are refused by line, failures end it."""

import json
import uuid
from typing import Any

import pytest

from app.core.classify import Context, Permanent, Result
from app.core.errors import Invalid
from app.core.services.measuring import Example, measure, read_examples

LINE = json.dumps({"text": "A text", "categories": ["toxicity"]})


class Scorer:
    """Takes every text with "bad" for toxicity; fails on one with "broken"."""

    categories = frozenset({"toxicity", "hate"})

    def score(self, texts: list[str], context: Context) -> list[Result]:
        (text,) = texts
        error = Permanent("it is broken") if "broken" in text else None
        return [Result({"toxicity": 0.9 if "bad" in text else 0.1}, model="m-1", error=error)]


def measured(examples: list[Example], **more: Any) -> Any:
    return measure(Scorer(), examples, {"ours": {"toxicity": 0.5, "hate": 0.5}}, uuid.uuid4(), **more)  # type: ignore[arg-type]


def examples(**texts: set[str]) -> list[Example]:
    return [Example(text.replace("_", " "), frozenset(names)) for text, names in texts.items()]


def test_each_category_that_is_known_is_counted_above_each_threshold() -> None:
    found = measured(examples(a_bad_one={"toxicity"}, an_evil_one={"toxicity"}, not_so_bad=set(), fine=set()))
    assert found.results == {"toxicity, above ours 0.5": "1 of 2 found, 1 of 2 others flagged wrongly"}
    assert (found.model, found.examples) == ("m-1", 4)


def test_a_text_that_is_not_scored_or_comes_too_late_ends_it() -> None:
    texts = examples(bad={"toxicity"}, broken=set())
    with pytest.raises(Invalid, match="could not all be scored: it is broken"):
        measured(texts)
    with pytest.raises(Invalid, match="took too long: 0 of 2"):
        measured(texts, seconds=-1)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "10 to 500 texts"),
        ("\n".join([LINE] * 501).encode(), "10 to 500 texts"),
        (b"text,category\nA text,toxicity\n", "JSON in line 1"),
        (b"\xff\xfe" * 20, "JSON in line 1"),
        (b"[" * 100_000, "JSON in line 1"),
        (f"{LINE}\n[]".encode(), "text of 1 to .* in line 2"),
        (b'{"text": "", "categories": []}', "text of 1 to .* in line 1"),
        (b'{"text": "A", "categories": "toxicity"}', "list of categories in line 1"),
        (b'{"text": "A", "categories": [null]}', "list of categories in line 1"),
        (b" " * (1024 * 1024 + 1), "at most 1,024 KB"),
    ],
)
def test_a_file_that_is_no_list_of_examples_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(Invalid, match=reason) as caught:
        read_examples(content)
    assert [problem.loc for problem in caught.value.problems] == [("examples",)]


def test_lines_of_json_are_read_with_any_line_ends() -> None:
    content = "﻿" + "\r\n".join([LINE] * 10) + "\r\n\r\n"
    assert read_examples(content.encode()) == [Example("A text", frozenset({"toxicity"}))] * 10
