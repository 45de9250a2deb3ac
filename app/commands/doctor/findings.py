"""The findings of the checks."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Result(NamedTuple):
    """What a check yields: ``detail`` says what was found, ``advice`` what to do, one sentence each.

    ``alert``: the rule of Prometheus that fires for it (deploy/prometheus).
    """

    state: State
    detail: str
    advice: str = ""
    alert: str = ""


@dataclass(frozen=True)
class Finding:
    """A result of the check ``what``."""

    what: str
    state: State
    detail: str
    advice: str = ""
    alert: str = ""


def ok(detail: str) -> Result:
    return Result(State.OK, detail)


def warn(detail: str, advice: str, alert: str = "") -> Result:
    return Result(State.WARN, detail, advice, alert)


def fail(detail: str, advice: str, alert: str = "") -> Result:
    return Result(State.FAIL, detail, advice, alert)
