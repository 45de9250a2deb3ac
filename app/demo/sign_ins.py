"""The demo's sign-ins, saved to a file when the database is seeded."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

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
        content = json.loads((folder / FILE).read_text())
        return Demo(**content | {"sign_ins": tuple(SignIn(**entry) for entry in content["sign_ins"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
