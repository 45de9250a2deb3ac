"""The dashboard's single keys, and the keys that a person presses instead.

Keys that answer (1, 2, 3), lead to a page after G, or open the help stay as they are.
"""

from collections.abc import Mapping

from app.core.errors import Invalid, Problem
from app.core.models import Account

KEYS: Mapping[str, str] = {
    "j": "Next row",
    "k": "Previous row",
    "x": "Tick the row",
    "n": "Next item",
    "p": "Previous item",
    "v": "Show or hide the content",
    "c": "Claim or Confirm",
    "f": "Force-publish",
    "d": "Dismiss",
    "o": "Overturn",
    "t": "Template",
    "a": "Assign",
    "s": "Skip",
    "u": "Undo",
    "w": "Write a note",
    "/": "Search",
}
"""What each key does that can be changed, by the key it has at first."""
FIXED = "123?g"


def shown_as(key: str) -> str:
    """A key as pages show it: a capital letter where it has one that stands for no other letter."""
    capital = key.upper()
    return capital if len(capital) == 1 and capital.lower() == key.lower() else key


def in_force(account: Account) -> dict[str, str]:
    """The keys that this person presses instead, by the key that each has at first.

    Without those that mean something else by now, because a key was added after the person chose.
    """
    chosen = {key: new for key, new in account.key_bindings.items() if key in KEYS}
    while clashing := [key for key, new in chosen.items() if new in KEYS.keys() - chosen.keys()]:
        del chosen[clashing[0]]
    return chosen


def bind(account: Account, pressed: Mapping[str, str]) -> None:
    """Set the keys that this person presses, by the key that each has at first. What is left out gets that key again.

    Raises:
        Invalid: no key, one that cannot be used, or one for two things; with a problem for each.
    """
    chosen = {key: shown_as(pressed.get(key, key)).lower() for key in KEYS}
    problems = []
    taken: dict[str, str] = {}
    for key, new in chosen.items():
        problem = ""
        if len(new) != 1 or not new.isprintable() or new.isspace():
            problem = "must be a single letter, digit or sign"
        elif new in FIXED:
            problem = f"cannot be {new.upper()}, which has a meaning of its own"
        elif new in taken:
            problem = f"cannot be {new.upper()}, which is “{KEYS[taken[new]]}”"
        if problem:
            problems.append(Problem("value_error", (key,), problem, new[:20]))
        taken.setdefault(new, key)
    if problems:
        raise Invalid(*problems)
    account.key_bindings = {key: new for key, new in chosen.items() if new != key}
