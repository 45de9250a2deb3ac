"""The demonstration's sign-ins: what a visitor needs, written down once when the database is seeded."""

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
    """A demo account with its password, as the sign-in page shows it in development."""

    role: str
    email: str
    password: str


@dataclass(frozen=True)
class Demo:
    """What a visitor needs: four sign-ins, lowest role first, and a Platform adapter key."""

    sign_ins: tuple[SignIn, ...]
    api_key: str
    platform: str = PLATFORM
    community: str = COMMUNITY


def keep(demo: Demo, folder: Path) -> None:
    """Write it down in ``folder``, for the owner of the files alone."""
    path = folder / FILE
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(asdict(demo), file, indent=2)


def kept(folder: Path) -> Demo | None:
    """What was written down in ``folder``; None when nothing readable was."""
    try:
        written = _written(folder)
        return Demo(**{**written, "sign_ins": _sign_ins(written)})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def kept_sign_ins(folder: Path) -> Sequence[SignIn]:
    """The sign-ins that were written down in ``folder``; none where no demonstration was seeded."""
    try:
        return _sign_ins(_written(folder))
    except (OSError, ValueError, TypeError, KeyError):
        return ()


def kept_key(folder: Path) -> str | None:
    """The key that was written down in ``folder``; None when none was."""
    try:
        return str(_written(folder)["api_key"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _written(folder: Path) -> Any:
    return json.loads((folder / FILE).read_text())


def _sign_ins(written: Any) -> tuple[SignIn, ...]:
    return tuple(SignIn(one["role"], one["email"], one["password"]) for one in written["sign_ins"])
