"""The findings of the checks."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """A result of the check ``what``: ``detail`` says what was found, ``advice`` what to do, one sentence each."""

    what: str
    state: State
    detail: str
    advice: str = ""


Result = tuple[State, str, str]
"""What a check yields: state, detail and advice as in ``Finding``."""


def ok(detail: str) -> Result:
    return State.OK, detail, ""


def warn(detail: str, advice: str) -> Result:
    return State.WARN, detail, advice


def fail(detail: str, advice: str) -> Result:
    return State.FAIL, detail, advice
