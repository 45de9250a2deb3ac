"""A model of one's own as files, run in this process by onnxruntime, which the extra ``onnx`` installs.

One thread of a process computes for all such models, so that threads and memory keep their limits however many posts
wait. A call that does not end in time is given up: its post goes on as with any service that fails.
"""

import importlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.adapters.services import onnx_files
from app.adapters.services.onnx_files import MEGABYTE, MODEL, TOKENIZER, BadFolder, ModelFiles, ModelLimits
from app.core.errors import Invalid
from app.core.services.kinds import (
    ASK_WHEN,
    Answer,
    CategoryMap,
    Connection,
    Failure,
    InspectedModel,
    Kind,
    Option,
)
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext

PACKAGES = ("onnxruntime", "tokenizers")
BATCH = 16
"""Passages that the model reads at once. A text longer than ``max_tokens`` is several passages."""
OVERLAP = 32
"""Tokens that neighbouring passages share, at most."""
FIRST_SECONDS = 60.0
"""How long an operator waits at most while a model is loaded and tried for the first time."""
_SAMPLE = "A short sentence to try a model with."
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_KNOWN_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_is_memory_limited = threading.Event()

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Loaded:
    """A model in memory. ``inputs`` are the types of its inputs by name."""

    files: ModelFiles
    session: Any
    tokenizer: Any
    inputs: Mapping[str, Any]
    pad: int


@dataclass
class Runner:
    """Loads models and runs them, one call after the other. Threads of the process share it."""

    limits: ModelLimits
    loaded: OrderedDict[str, _Loaded] = field(default_factory=OrderedDict)

    @cached_property
    def _worker(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, thread_name_prefix="onnx")

    def run(self, files: ModelFiles, texts: Sequence[str], seconds: float) -> Floats:
        """The scores of texts, a row each and a column for each label, within this time.

        A model that is still being loaded then goes on loading, so that a later call finds it.

        Raises:
            Failure: there is no usable answer in time.
        """
        missing = missing_words(self.limits)
        if missing:
            raise Failure(missing, retry=False)
        options = importlib.import_module("onnxruntime").RunOptions()
        future = self._worker.submit(self._run, files, texts, options)
        try:
            return future.result(seconds)
        except TimeoutError:
            future.cancel()
            options.terminate = True
            raise Failure(f"no answer within {seconds:g} s") from None

    def _run(self, files: ModelFiles, texts: Sequence[str], options: Any) -> Floats:
        try:
            return _scores(self._load(files), texts, options)
        except Failure:
            raise
        except BaseException as error:
            # The tokenizers' errors from Rust are no Exception. Messages could quote the text.
            if "bfc_arena" in str(error):
                allowed = f"{self.limits.memory_mb} MB that BRIDGENOTE_MODEL_MEMORY_MB allows"
                raise Failure(f"it needs more memory than the {allowed}", retry=False) from None
            raise Failure(f"the model cannot be run: {type(error).__name__}") from None

    def _load(self, files: ModelFiles) -> _Loaded:
        loaded = self.loaded.get(files.digest)
        if loaded is None:
            room = self.limits.memory_mb * MEGABYTE - files.size
            while self.loaded and sum(other.files.size for other in self.loaded.values()) > room:
                self.loaded.popitem(last=False)
            loaded = self.loaded[files.digest] = _load(files, self.limits)
        self.loaded.move_to_end(files.digest)
        return loaded


def _load(files: ModelFiles, limits: ModelLimits) -> _Loaded:
    runtime = importlib.import_module("onnxruntime")
    _limit_memory(limits.memory_mb)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = limits.threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # Its log could quote what it reads; errors are raised anyway.
    options.add_session_config_entry("session.use_env_allocators", "1")
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = runtime.InferenceSession(str(files.folder / MODEL), options, providers=["CPUExecutionProvider"])
    inputs = {given.name: _TYPES.get(given.type) for given in session.get_inputs()}
    if not {"input_ids"} <= inputs.keys() <= _KNOWN_INPUTS or None in inputs.values():
        raise Failure(
            f"its inputs must be whole numbers named {', '.join(sorted(_KNOWN_INPUTS))}", retry=False
        )
    tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(files.folder / TOKENIZER))
    pad = (tokenizer.padding or {}).get("pad_id", 0)
    tokenizer.no_padding()
    length = files.max_tokens - tokenizer.num_special_tokens_to_add(False)
    tokenizer.enable_truncation(files.max_tokens, stride=max(0, min(OVERLAP, length // 4)))
    return _Loaded(files, session, tokenizer, inputs, pad)


def _limit_memory(megabytes: int) -> None:
    """Limit the working memory of all models of this process; once, because onnxruntime has one such limit."""
    if _is_memory_limited.is_set():
        return
    _is_memory_limited.set()
    runtime = importlib.import_module("onnxruntime")
    kind = runtime.OrtAllocatorType.ORT_ARENA_ALLOCATOR
    place = runtime.OrtMemoryInfo("Cpu", kind, 0, runtime.OrtMemType.DEFAULT)
    limits = runtime.OrtArenaCfg({"max_mem": megabytes * MEGABYTE, "arena_extend_strategy": 1})
    runtime.create_and_register_allocator(place, limits)


def _scores(loaded: _Loaded, texts: Sequence[str], options: Any) -> Floats:
    """The highest score of all passages of each text, by label."""
    passages: list[tuple[int, Sequence[int]]] = []
    for place, text in enumerate(texts):
        if options.terminate:
            raise Failure("it was given up")  # onnxruntime itself ends between two of its steps.
        encoding = loaded.tokenizer.encode(text)
        passages += [(place, part.ids) for part in (encoding, *encoding.overflowing)]
    highest = np.zeros((len(texts), len(loaded.files.labels)))
    for start in range(0, len(passages), BATCH):
        some = passages[start : start + BATCH]
        values = _activated(_outputs(loaded, [ids for _, ids in some], options), loaded.files.activation)
        np.maximum.at(highest, [place for place, _ in some], values)
    return highest


def _outputs(loaded: _Loaded, passages: Sequence[Sequence[int]], options: Any) -> Floats:
    width = max(1, *map(len, passages))
    ids = np.full((len(passages), width), loaded.pad)
    mask = np.zeros_like(ids)
    for row, passage in enumerate(passages):
        ids[row, : len(passage)] = passage
        mask[row, : len(passage)] = 1
    arrays = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    given = {name: arrays[name].astype(kind) for name, kind in loaded.inputs.items()}
    output = np.asarray(loaded.session.run(None, given, options)[0], dtype=np.float64)
    if output.shape != (len(passages), len(loaded.files.labels)):
        raise Failure(
            f"broken answer: the first output must have {len(loaded.files.labels)} numbers for each text, "
            "as many as there are labels",
            retry=False,
        )
    if not np.isfinite(output).all():
        raise Failure("broken answer: an output that is no number", retry=False)
    return output


def _activated(outputs: Floats, activation: str) -> Floats:
    """Probabilities. Outputs are limited first, so that the exponential stays finite."""
    if activation == "sigmoid":
        return np.asarray(1 / (1 + np.exp(-np.clip(outputs, -500, 500))))
    powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class OnnxModel:
    """Asks the model of one folder, as long as its files are those that the settings were saved with."""

    runner: Runner
    connection: Connection

    def ask(self, texts: Sequence[str], images: Sequence[str] = ()) -> Sequence[Answer]:
        if images:
            raise Failure("it reads no pictures", retry=False)
        try:
            files = onnx_files.read(self.runner.limits, self.connection.options.get("folder", ""))
        except BadFolder as error:
            raise Failure(f"its folder {error.reason}", retry=False) from error
        if files.model != self.connection.model:
            raise Failure("its files were changed: save its settings to use them", retry=False)
        rows = self.runner.run(files, texts, self.connection.deadline)
        return [Answer(_by_category(files, row), files.model, files.is_calibrated) for row in rows]


def _by_category(files: ModelFiles, row: Floats) -> dict[str, float]:
    scores: dict[str, float] = {}
    for label, value in zip(files.labels, row.tolist(), strict=True):
        if label is not None:
            scores[label] = max(value, scores.get(label, 0.0))
    return scores


def missing_words(limits: ModelLimits) -> str:
    """What this installation lacks to run models of files, empty if nothing."""
    if not all(find_spec(name) for name in PACKAGES):
        return (
            "This installation cannot run models of files: it needs the packages onnxruntime and tokenizers"
        )
    if limits.folder is None:
        return "This installation has no folder of models: BRIDGENOTE_MODELS_DIR names it"
    return ""


def _inspect(runner: Runner, options: Mapping[str, str]) -> InspectedModel:
    """Read the folder and try the model on a sentence. Raises Invalid, at the field of the folder."""
    missing = missing_words(runner.limits)
    if missing:
        raise Invalid.field("folder", _("cannot be used. %(missing)s", missing=missing))
    try:
        files = onnx_files.read(runner.limits, options.get("folder", ""))
        runner.run(files, [_SAMPLE], FIRST_SECONDS)
    except BadFolder as error:
        raise Invalid.field("folder", error.reason) from error
    except Failure as failure:
        raise Invalid.field(
            "folder", _("has a model that fails: %(reason)s", reason=failure.reason)
        ) from failure
    return InspectedModel(files.model, files.title, files.thresholds)


def _category_map(limits: ModelLimits, options: Mapping[str, str]) -> CategoryMap:
    try:
        return {name: name for name in onnx_files.read(limits, options.get("folder", "")).categories}
    except BadFolder:
        return {}


def kind(limits: ModelLimits) -> Kind:
    """The kind, with what this installation allows."""
    runner = Runner(limits)
    return Kind(
        name="onnx",
        title=lazy_gettext("Model as files"),
        about=lazy_gettext(
            "A text classifier of yours as an ONNX file with its tokenizer, run in this process. "
            "Nothing is sent anywhere (docs/run/classifiers.md)."
        ),
        connect=partial(OnnxModel, runner),
        category_map=partial(_category_map, limits),
        inspect=partial(_inspect, runner),
        missing=missing_words(limits),
        has_model=False,
        needs_model=True,
        calls_out=False,
        batch=BATCH,
        max_chars=20_000,
        options=(
            Option(
                "folder",
                lazy_gettext("Folder"),
                lazy_gettext(
                    "The name of a folder below BRIDGENOTE_MODELS_DIR, without a path. Its files are checked "
                    "and tried when you save."
                ),
            ),
            ASK_WHEN,
        ),
    )
