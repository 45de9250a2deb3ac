"""The form about the keys that a person presses in the dashboard."""

from typing import Any

from wtforms import Field, Form, StringField

from app.core.models import Account
from app.core.people import shortcuts


def field_name(key: str) -> str:
    """Return the form's field for the key."""
    return f"key_{'slash' if key == '/' else key}"


class KeysForm(Form):
    """A field for each key that can be changed, by the name that ``field_name`` gives it."""

    def pressed(self) -> dict[str, str]:
        """Return the typed keys by the key that each has at first. An empty field brings that back."""
        typed = {key: (self[field_name(key)].data or "").strip() for key in shortcuts.KEYS}
        return {key: new for key, new in typed.items() if new}

    @property
    def fields(self) -> list[Field]:
        """The fields in their order."""
        return list(self)


for _key, _what in shortcuts.KEYS.items():
    setattr(KeysForm, field_name(_key), StringField(_what))


def form_for(account: Account) -> KeysForm:
    """Return the form with the keys that this person presses."""
    pressed = shortcuts.in_force(account)
    present: dict[str, Any] = {
        field_name(key): shortcuts.shown_as(pressed.get(key, key)) for key in shortcuts.KEYS
    }
    return KeysForm(**present)
