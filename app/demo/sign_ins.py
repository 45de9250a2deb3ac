"""The demo's sign-ins, saved to a file when the database is seeded."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PLATFORM = "demo"
COMMUNITY = "harbour"
FILE = "demo.json"


@dataclass(frozen=True)
class SignIn:
    """A demo account with its password. The sign-in page shows it in development."""

    role: str
    email: str
    password: str


@dataclass(frozen=True)
class Demo:
    """The access data for visitors: four sign-ins, lowest role first, and an API key (Platform adapter)."""

    sign_ins: tuple[SignIn, ...]
    api_key: str
    platform: str = PLATFORM
    community: str = COMMUNITY


def save(demo: Demo, folder: Path) -> None:
    """Save the access data in ``folder``; only the owner can read the file."""
    path = folder / FILE
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(asdict(demo), file, indent=2)


def load(folder: Path) -> Demo | None:
    """Return the access data saved in ``folder``, or None if there is no readable file."""
    try:
        content = _read(folder)
        return Demo(**{**content, "sign_ins": _sign_ins(content)})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def load_sign_ins(folder: Path) -> Sequence[SignIn]:
    """Return the sign-ins saved in ``folder``; empty if no demo was seeded."""
    try:
        return _sign_ins(_read(folder))
    except (OSError, ValueError, TypeError, KeyError):
        return ()


def load_key(folder: Path) -> str | None:
    """Return the API key saved in ``folder``, or None."""
    try:
        return str(_read(folder)["api_key"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _read(folder: Path) -> Any:
    return json.loads((folder / FILE).read_text())


def _sign_ins(content: Any) -> tuple[SignIn, ...]:
    return tuple(SignIn(entry["role"], entry["email"], entry["password"]) for entry in content["sign_ins"])
