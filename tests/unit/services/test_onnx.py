"""A model as files: its folder is checked, its passages are scored within limits, and changed files are not used."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.adapters.services import onnx_files, onnx_model
from app.adapters.services.onnx_files import BadFolder, ModelLimits
from app.core.errors import Invalid
from app.core.outbound import AllowList
from app.core.services.calling import checked as checked_answers
from app.core.services.kinds import Adapter, Connection, Failure, Kind
from app.core.services.settings import ServiceSettings, checked, pinned
from tests.onnx_models import ABOUT, model_bytes, write_model

Change = Callable[[Path], None]
HIGH, LOW, BETWEEN = pytest.approx(0.952574, abs=1e-5), pytest.approx(0.017986, abs=1e-5), 0.880797


@pytest.fixture
def models(tmp_path: Path) -> Path:
    write_model(tmp_path / "models" / "tiny")
    return tmp_path / "models"


@pytest.fixture
def kind(models: Path) -> Kind:
    return onnx_model.kind(ModelLimits(models, threads=2, memory_mb=64))


def connect(kind: Kind, folder: str = "tiny", deadline: float = 30.0) -> Adapter:
    """An adapter with settings that were saved just now."""
    settings = pinned(ServiceSettings(options={"folder": folder}), kind)
    return kind.connect(Connection("", settings.model, options=settings.options, deadline=deadline))


def rewrite(folder: Path, **changes: Any) -> None:
    (folder / "bridgenote.json").write_text(json.dumps({**ABOUT, **changes}))


def test_texts_of_any_length_are_scored_in_one_batch_by_the_labels_of_the_folder(kind: Kind) -> None:
    long = "A sentence without much. " * 40 + "Then a kitten. " + "And more of it. " * 40
    answers = checked_answers(connect(kind).ask(["A Kitten!", "Fine weather", "", long]), 4)
    scores = [answer.scores for answer in answers]
    assert scores == [
        {"toxicity": HIGH},
        {"toxicity": LOW},
        {"toxicity": pytest.approx(0, abs=1e-3)},
        {"toxicity": HIGH},
    ]
    assert not answers[0].calibrated  # The folder does not say so.


def test_softmax_and_labels_of_one_category_give_its_highest_score(kind: Kind, models: Path) -> None:
    labels = {"0": "toxicity", "1": "toxicity"}
    rewrite(models / "tiny", activation="softmax", labels=labels, calibrated=True)
    (bad, good) = connect(kind).ask(["kitten", "weather"])
    assert (bad.scores["toxicity"], good.scores["toxicity"]) == (pytest.approx(0.99909, abs=1e-5), 0.5)
    assert bad.calibrated


def test_the_settings_name_the_digest_of_all_files_and_changed_files_are_not_used(
    kind: Kind, models: Path
) -> None:
    before = pinned(ServiceSettings(options={"folder": "tiny"}), kind)
    settings = checked(before, kind, AllowList())
    assert settings.categories == {"toxicity": "toxicity"}
    adapter = connect(kind)
    (answer,) = adapter.ask(["kitten"])
    assert answer.model == settings.model
    assert settings.model.startswith("tiny-")
    (models / "tiny" / "README.md").write_text("# Another card\n")
    with pytest.raises(Failure, match="its files were changed") as caught:
        adapter.ask(["kitten"])
    assert not caught.value.retry
    after = pinned(before, kind)
    assert after.model != before.model
    assert connect(kind).ask(["kitten"])[0].model == after.model


def _remove(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


def _write(name: str, content: bytes) -> Change:
    def write(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return write


def _about(**changes: Any) -> Change:
    return lambda folder: rewrite(folder, **changes)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_remove("tokenizer.json"), r"has no tokenizer\.json"),
        (_remove("README.md"), r"has no README\.md"),
        (lambda folder: (folder / "more").mkdir(), "files only"),
        (lambda folder: (folder / "more").symlink_to("/etc/hostname"), "files only"),
        (_write("bridgenote.json", b"{"), "is no JSON"),
        (_write("bridgenote.json", b"[" * 100_000), "is no JSON"),
        (_write("bridgenote.json", b"[]"), "must be an object"),
        (_about(licence=""), "must have a licence"),
        (_about(labels={}), "must have labels"),
        (_about(labels={"0": "toxicity", "2": None}), "from 0 to 1"),
        (_about(labels={"0": "Toxicity", "1": None}), "names of categories"),
        (_about(labels={"0": None, "1": None}), "a label that is a category"),
        (_about(activation="none"), "sigmoid or softmax"),
        (_about(max_tokens=100_000), "max_tokens from 8 to 512"),
        (_about(thresholds={"hate": 0.5}), "among its labels"),
        (_about(thresholds={"toxicity": True}), "among its labels"),
        (_about(labels={"0": "toxicity"}), "1 numbers for each text"),
        (_write("model.onnx", b"no model"), "cannot be run"),
        (_write("tokenizer.json", b"{}"), "cannot be run"),
        (_write("model.onnx", model_bytes([(float("nan"),) * 2] * 4)), "no number"),
        (_write("weights.bin", b"0" * (65 * 1024 * 1024)), "larger than the 64 MB"),
    ],
)
def test_a_folder_without_a_usable_model_is_refused_at_its_field(
    kind: Kind, models: Path, change: Change, reason: str
) -> None:
    change(models / "tiny")
    with pytest.raises(Invalid, match=reason) as caught:
        connect(kind)
    assert [problem.loc for problem in caught.value.problems] == [("folder",)]


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../outside", "/etc", "tiny/../tiny", "link", "tiny\x00", "other"]
)
def test_a_folder_elsewhere_is_never_read(models: Path, name: str) -> None:
    write_model(models.parent / "outside")
    (models / "link").symlink_to(models.parent / "outside")
    with pytest.raises(BadFolder, match=r"without a path|is none of those"):
        onnx_files.read(ModelLimits(models), name)


def test_what_the_installation_lacks_is_said_in_words(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = onnx_model.kind(ModelLimits())
    assert "BRIDGENOTE_MODELS_DIR" in nowhere.missing
    monkeypatch.setattr(onnx_model, "PACKAGES", ("no_such_package",))
    without = onnx_model.kind(ModelLimits(models))
    assert "onnxruntime and tokenizers" in without.missing
    with pytest.raises(Invalid, match="onnxruntime and tokenizers"):
        connect(without)
    adapter = without.connect(
        Connection("", onnx_files.read(ModelLimits(models), "tiny").model, options={"folder": "tiny"})
    )
    with pytest.raises(Failure, match="needs the packages") as caught:
        adapter.ask(["kitten"])
    assert not caught.value.retry


def test_a_model_that_does_not_answer_in_time_fails_and_the_next_call_is_answered(kind: Kind) -> None:
    hurried, patient = connect(kind, deadline=0.001), connect(kind)
    with pytest.raises(Failure, match=r"no answer within 0.001 s") as caught:
        hurried.ask(["kitten weather " * 1_300] * 500)  # far more than can be read in a millisecond
    assert caught.value.retry
    assert patient.ask(["kitten"])[0].scores == {"toxicity": HIGH}


def test_a_model_that_needs_more_memory_than_allowed_fails_alone(kind: Kind, models: Path) -> None:
    # More than any model of this process may have: the first one that is loaded sets the limit.
    write_model(models / "hungry", megabytes=1_000)
    with pytest.raises(Invalid, match="more memory than the 64 MB"):
        connect(kind, "hungry")
    assert connect(kind).ask(["kitten"])[0].scores == {"toxicity": HIGH}


def test_models_together_take_no_more_memory_than_allowed(models: Path) -> None:
    for name in ("first", "second", "third"):
        (write_model(models / name) / "weights.bin").write_bytes(name.encode() + b"0" * (7 * 1024 * 1024))
    runner = onnx_model.Runner(ModelLimits(models, memory_mb=16))
    for name in ("first", "second", "third", "first"):
        files = onnx_files.read(runner.limits, name)
        assert runner.run(files, ["kitten"], 30.0).tolist()[0][0] == HIGH
    assert [kept.files.folder.name for kept in runner.loaded.values()] == ["third", "first"]


def test_the_runtime_is_imported_only_when_a_model_is_used() -> None:
    code = "import sys, app.wiring; from app.adapters.services.kinds import known_kinds; known_kinds(); "
    code += "sys.exit('onnxruntime' in sys.modules or 'tokenizers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
