"""A client whose pages read the same however their templates break lines.

A test that looks for a piece of markup, and above all one that says a piece is *not* there, must not depend on where a
template begins a new line. Line breaks inside tags become one space; those next to a tag go. The text of posts and of
text fields stays as it is.
"""

import re
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

_KEPT = re.compile(r'(<(textarea|pre)\b.*?</\2>|<div class="content".*?</div>)', re.DOTALL)
_TAG = re.compile(r"<[a-zA-Z/][^<>]*>")
_BREAK_AFTER_TAG, _BREAK_BEFORE_TAG = re.compile(r">\s*\n\s*"), re.compile(r"\s*\n\s*<")


class OneLine(TestResponse):
    """A response whose HTML is read without the line breaks of the template."""

    @property
    def text(self) -> str:
        whole = super().text
        if self.mimetype != "text/html":
            return whole
        parts = _KEPT.split(whole)
        # Three parts each: what stands between, the kept element, and the name of its tag.
        return "".join(
            _joined(part) if index % 3 == 0 else part for index, part in enumerate(parts) if index % 3 != 2
        )


def _joined(html: str) -> str:
    html = _TAG.sub(lambda tag: re.sub(r"\s*\n\s*", " ", tag[0]), html)
    html = _BREAK_BEFORE_TAG.sub("<", _BREAK_AFTER_TAG.sub(">", html))
    return re.sub(r"\s*\n\s*", " ", html)


class OneLineClient(FlaskClient):
    """Flask's test client with `OneLine` responses."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.response_wrapper = type("OneLineResponse", (OneLine, self.response_wrapper), {})
