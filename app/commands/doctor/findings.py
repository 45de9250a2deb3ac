"""The findings of the checks."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """Result of a check: ``detail`` says what was found, ``advice`` what to do, one sentence each."""

    what: str
    state: State
    detail: str
    advice: str = ""


def ok(what: str, detail: str) -> Finding:
    return Finding(what, State.OK, detail)


def warn(what: str, detail: str, advice: str) -> Finding:
    return Finding(what, State.WARN, detail, advice)


def fail(what: str, detail: str, advice: str) -> Finding:
    return Finding(what, State.FAIL, detail, advice)
