"""The keys that a person presses instead of those that the dashboard has at first."""

import pytest

from app.core.errors import Invalid
from app.core.models import Account
from app.core.people import dashboard


@pytest.mark.parametrize(
    ("pressed", "kept"),
    [
        ({}, {}),
        ({"d": "Q"}, {"d": "q"}),
        ({"d": "f", "f": "d"}, {"d": "f", "f": "d"}),
        ({"d": "d", "u": "ü"}, {"u": "ü"}),
        ({"u": "ß", "t": "ı"}, {"u": "ß", "t": "ı"}),
    ],
)
def test_keys_are_kept_where_they_differ(pressed: dict[str, str], kept: dict[str, str]) -> None:
    account = Account(key_bindings={"a": "m"})
    dashboard.bind_keys(account, pressed)
    assert account.key_bindings == kept


@pytest.mark.parametrize(
    ("pressed", "field", "why"),
    [
        ({"d": "c"}, "d", "cannot be C, which is “Claim or Confirm”"),
        ({"c": "D"}, "d", "cannot be D, which is “Claim or Confirm”"),
        ({"d": "1"}, "d", "cannot be 1, which has a meaning of its own"),
        ({"d": "g"}, "d", "cannot be G, which has a meaning of its own"),
        ({"d": "qq"}, "d", "must be a single letter, digit or sign"),
        ({"d": "\x07"}, "d", "must be a single letter, digit or sign"),
    ],
)
def test_one_key_for_two_things_and_keys_with_a_meaning_are_refused(
    pressed: dict[str, str], field: str, why: str
) -> None:
    account = Account(key_bindings={"a": "m"})
    with pytest.raises(Invalid) as refused:
        dashboard.bind_keys(account, pressed)
    assert [(problem.loc, problem.msg) for problem in refused.value.problems] == [((field,), why)]
    assert account.key_bindings == {"a": "m"}


@pytest.mark.parametrize(
    ("kept", "pressed"),
    [
        ({"d": "q"}, {"d": "q"}),
        ({"d": "f", "f": "d"}, {"d": "f", "f": "d"}),
        # As if N and P had been added after the person chose them.
        ({"c": "n"}, {}),
        ({"c": "n", "x": "c"}, {}),
        ({"gone": "q"}, {}),
    ],
)
def test_a_key_that_means_something_else_by_now_is_left_out(
    kept: dict[str, str], pressed: dict[str, str]
) -> None:
    assert dashboard.keys_in_force(Account(key_bindings=kept)) == pressed


def test_a_key_is_shown_as_a_capital_only_where_that_is_the_same_key() -> None:
    assert [dashboard.shown_as(key) for key in "dßıü/"] == ["D", "ß", "ı", "Ü", "/"]
