"""The settings as a table: with values for the terminal, without values for the documentation."""

import sys
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from app.core import limits
from app.core.communities import settings as community_settings
from app.core.communities.declarations import Setting
from app.process import logs
from app.settings import Settings


def name_of(field: str) -> str:
    """Return the environment variable of a settings field."""
    return f"{Settings.model_config.get('env_prefix', '')}{field}".upper()


def as_markdown() -> str:
    """Return a Markdown table of every setting with its default and meaning (docs/run/settings.md)."""
    lines = [
        "# Settings",
        "",
        "Environment variables, or lines of a `.env` file in the folder where the service is started.",
        "`python -m app settings` shows the values in force. This page is written by",
        "`python -m app settings --markdown`.",
        "",
        "| Name | Default | Meaning |",
        "|---|---|---|",
    ]
    for field, info in Settings.model_fields.items():
        default = _text(info.default)
        shown = f"`{default}`" if default else "(empty)"
        lines.append(f"| `{name_of(field)}` | {shown} | {_meaning(info)} |".replace("\n", " "))
    lines += [
        "",
        "## Settings of a community",
        "",
        "Operators set them on the Community page. A setting that a community never changed follows the default.",
        "",
        "| Name | Default | Meaning |",
        "|---|---|---|",
    ]
    for setting in community_settings.SETTINGS.values():
        bounds = "" if setting.bounds is None else "; from {:,g} to {:,g}".format(*setting.bounds)
        lines.append(f"| {setting.label} | {_default(setting)}{bounds} | {_escaped(setting.hint)} |")
    lines += [
        "",
        "## How many there may be",
        "",
        "Beyond these numbers, adding one is refused (422 in the API). They are no settings.",
        "",
        "| Who | Has at most |",
        "|---|---|",
    ]
    for most in limits.COUNTED:
        who, _, what = (most.rule % {"number": f"{most.number:,}"}).partition(" has at most ")
        lines.append(f"| {who.capitalize()} | {what} |")
    return "\n".join(lines) + "\n"


def show(settings: Settings) -> None:
    """Print every setting with its value. Of secrets, print only whether they are set."""
    from rich.console import Console
    from rich.table import Table

    table = Table("Name", "Value", "Default", "Meaning", title="Settings", title_justify="left")
    for field, info in Settings.model_fields.items():
        table.add_row(name_of(field), _value(getattr(settings, field)), _text(info.default), _meaning(info))
    # A pipe has no width. Use long lines, which are easier to search.
    Console(width=None if sys.stdout.isatty() else 250, markup=False, highlight=False).print(table)


def _value(value: Any) -> str:
    if isinstance(value, SecretStr):
        return "(set)" if value.get_secret_value() else "(not set)"
    return logs.mask(_text(value))


def _text(value: Any) -> str:
    if isinstance(value, SecretStr):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _default(setting: Setting) -> str:
    if setting.choices is not None:
        return setting.choices[setting.default]
    if setting.default in (None, ""):
        return "(empty)"
    if isinstance(setting.default, bool):
        return "on" if setting.default else "off"
    return "a text" if setting.most is not None else f"{setting.default:g}"


def _meaning(info: FieldInfo) -> str:
    return _escaped(info.description or "")


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
