"""What the workers of one test run share: made by the first that asks, kept as a file for the others."""

import fcntl
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Made = TypeVar("Made")

RUN = "BRIDGENOTE_TEST_RUN"
"""In the environment: the id of the process that the whole run ends with, for its workers to know."""


@dataclass(frozen=True)
class Shared:
    """A folder of the whole run."""

    folder: Path

    @classmethod
    def beside(cls, worker_folder: Path) -> "Shared":
        """The run's folder, given that of one worker; without workers they are the same."""
        folder = worker_folder.parent if "PYTEST_XDIST_WORKER" in os.environ else worker_folder
        return cls(folder)

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What ``make`` returned in the worker that asked first; the others wait for it meanwhile."""
        path = self.folder / f"shared-{name}"
        with (self.folder / f"shared-{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                path.write_bytes(pickle.dumps(make()))
        made: Any = pickle.loads(path.read_bytes())  # noqa: S301 - we wrote it ourselves
        return made
