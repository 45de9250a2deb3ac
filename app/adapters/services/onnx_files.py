"""A model of one's own as a folder of files: what must lie there, and what its ``bridgenote.json`` says.

Nothing here runs the model. The folders lie side by side in one folder that the installation names, and are named by
an operator without a path (docs/run/classifiers.md).
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from app.core.limits import CATEGORY_PATTERN

MODEL, TOKENIZER, ABOUT, CARD = "model.onnx", "tokenizer.json", "bridgenote.json", "README.md"
ACTIVATIONS = ("sigmoid", "softmax")
TOKENS = (8, 512)
FILES_MAX = 64
LABELS_MAX = 100
ABOUT_MAX = 256 * 1024
_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
MEGABYTE = 1024 * 1024

Signature = tuple[tuple[str, int, int, int], ...]
"""Name, inode, size and time of change of each file: as long as it is the same, so are the files."""


class BadFolder(Exception):
    """A folder holds no usable model. ``reason`` continues a sentence that begins with "the folder"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class ModelLimits:
    """What this installation allows to models of files. ``folder``: where their folders lie, None for nowhere.

    ``threads`` that compute at once in a process; ``memory_mb`` is the size of all models that a process keeps loaded,
    and the working memory that they may use besides.
    """

    folder: Path | None = None
    threads: int = 1
    memory_mb: int = 512


@dataclass(frozen=True)
class ModelFiles:
    """A model's folder as read. ``labels`` are the categories of its outputs by place, None for one without a use.

    ``digest`` is that of all files; ``size`` their bytes together. ``title`` has the name, version and licence.
    """

    folder: Path
    labels: Sequence[str | None]
    activation: str
    digest: str
    size: int
    max_tokens: int = 256
    thresholds: Mapping[str, float] = field(default_factory=dict)
    is_calibrated: bool = False
    title: str = ""

    @property
    def model(self) -> str:
        """The model's name in scores: its folder, and the beginning of its digest."""
        return f"{self.folder.name}-{self.digest[:16]}"

    @property
    def categories(self) -> Sequence[str]:
        """The categories that it scores, each once."""
        return list(dict.fromkeys(label for label in self.labels if label is not None))


def read(limits: ModelLimits, name: str) -> ModelFiles:
    """Read a model's folder. The digest is computed again only after a file was changed.

    Raises:
        BadFolder: it holds no usable model, or it is none of this installation's.
    """
    folder = _found(limits, name)
    signature = _signature(folder)
    size = sum(entry[2] for entry in signature)
    if size > limits.memory_mb * MEGABYTE:
        raise BadFolder(
            f"is larger than the {limits.memory_mb} MB that BRIDGENOTE_MODEL_MEMORY_MB allows to models"
        )
    names = {entry[0] for entry in signature}
    missing = [wanted for wanted in (ABOUT, MODEL, TOKENIZER, CARD) if wanted not in names]
    if missing:
        raise BadFolder(f"has no {', no '.join(missing)}")
    return _read(folder, signature, size)


def _found(limits: ModelLimits, name: str) -> Path:
    if limits.folder is None:
        raise BadFolder("cannot be found: BRIDGENOTE_MODELS_DIR names no folder of models")
    if not _FOLDER.fullmatch(name):
        raise BadFolder("must be named without a path: letters, digits, dots, hyphens and underscores")
    folder = limits.folder.resolve() / name
    # A link would lead to files that the installation did not offer.
    if folder.is_symlink() or not folder.is_dir():
        raise BadFolder("is none of those below BRIDGENOTE_MODELS_DIR")
    return folder


def _signature(folder: Path) -> Signature:
    try:
        entries = sorted(folder.iterdir())
        if len(entries) > FILES_MAX:
            raise BadFolder(f"has more than {FILES_MAX} files")
        if any(entry.is_symlink() or not entry.is_file() for entry in entries):
            raise BadFolder("must hold files only: no folders, no links")
        stats = [(entry.name, entry.stat()) for entry in entries]
    except OSError as error:
        raise BadFolder(f"cannot be read ({type(error).__name__})") from error
    return tuple((name, stat.st_ino, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@lru_cache(maxsize=32)
def _read(folder: Path, signature: Signature, size: int) -> ModelFiles:
    digest = hashlib.sha256()
    try:
        for name, *_ in signature:
            with (folder / name).open("rb") as file:
                digest.update(f"{name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
        if (folder / ABOUT).stat().st_size > ABOUT_MAX:
            raise BadFolder(f"has a {ABOUT} that is larger than {ABOUT_MAX // 1024} KB")
        about = json.loads((folder / ABOUT).read_bytes())
    except OSError as error:
        raise BadFolder(f"cannot be read ({type(error).__name__})") from error
    except (ValueError, RecursionError):
        raise _wrong("is no JSON") from None
    if not isinstance(about, dict):
        raise _wrong("must be an object")
    return ModelFiles(folder=folder, digest=digest.hexdigest(), size=size, **_facts(about))


def _facts(about: Mapping[str, Any]) -> dict[str, Any]:
    labels = _labels(about.get("labels"))
    activation = about.get("activation", ACTIVATIONS[0])
    if activation not in ACTIVATIONS:
        raise _wrong(f"must have an activation that is {' or '.join(ACTIVATIONS)}")
    least, most = TOKENS
    tokens = about.get("max_tokens", 256)
    if not isinstance(tokens, int) or isinstance(tokens, bool) or not least <= tokens <= most:
        raise _wrong(f"must have max_tokens from {least} to {most}")
    thresholds = about.get("thresholds", {})
    if not isinstance(thresholds, dict) or not all(
        name in labels and isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1
        for name, value in thresholds.items()
    ):
        raise _wrong("must have thresholds between 0 and 1 for categories among its labels")
    words = {name: about.get(name) for name in ("name", "version", "licence")}
    for name, value in words.items():
        if not isinstance(value, str) or not 1 <= len(value) <= 80 or not value.isprintable():
            raise _wrong(f"must have a {name} of 1 to 80 characters")
    return {
        "labels": labels,
        "activation": activation,
        "max_tokens": tokens,
        "thresholds": {name: float(value) for name, value in thresholds.items()},
        "is_calibrated": about.get("calibrated") is True,
        "title": f"{words['name']} {words['version']} ({words['licence']})",
    }


def _labels(given: Any) -> Sequence[str | None]:
    if not isinstance(given, dict) or not 1 <= len(given) <= LABELS_MAX:
        raise _wrong(f"must have labels: 1 to {LABELS_MAX} places with a category each")
    places = [str(place) for place in range(len(given))]
    if sorted(given) != sorted(places):
        raise _wrong(f"must number its labels from 0 to {len(given) - 1}")
    labels = [given[place] for place in places]
    if not all(
        label is None or (isinstance(label, str) and re.fullmatch(CATEGORY_PATTERN[1:-1], label))
        for label in labels
    ):
        raise _wrong("must have labels that are names of categories, such as toxicity, or null")
    if not any(labels):
        raise _wrong("must have a label that is a category")
    return labels


def _wrong(reason: str) -> BadFolder:
    return BadFolder(f"has a {ABOUT} that {reason}")
