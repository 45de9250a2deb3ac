"""Hostile pictures cost their own process, within its limits, and nothing else."""

import signal
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from PIL import Image

from app.adapters.media import pictures as decoding
from app.core.attachments.fetching import FetchFailed
from app.core.vocabulary import AttachmentRefusal
from tests.unit.attachments import pictures

R = AttachmentRefusal
BOMB = zlib.compress(bytes(200_000_000), 9)
MANY_SCANS = 80


def _refusal(content: bytes) -> tuple[AttachmentRefusal, bool]:
    with pytest.raises(FetchFailed) as caught:
        decoding.rewrite(content)
    return caught.value.reason, caught.value.retry


def _is_decoded(content: bytes) -> bool:
    with decoding.rewrite(content) as obtained:
        return obtained.main.size > 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (pictures.blank_png(40_000_000, 1), R.TOO_MANY_PIXELS),
        (pictures.blank_png(1, 20_001), R.TOO_MANY_PIXELS),
        (pictures.blank_png(1_010, 10), R.TOO_MANY_PIXELS),
        (pictures.progressive_jpeg(300, 200, 5_000), R.UNSUPPORTED),
        (pictures.blank_png(9, 9, (b"iCCP", b"x\0\0" + BOMB)), R.DAMAGED),
        (pictures.blank_png(9, 9, (b"zTXt", b"x\0\0" + BOMB)), R.DAMAGED),
        (pictures.blank_png(9, 9, (b"iTXt", b"x\0\1\0\0\0" + BOMB)), R.DAMAGED),
    ],
    ids=["40,000,000 x 1", "a long side", "narrow", "scans", "iCCP", "zTXt", "iTXt"],
)
def test_a_picture_that_costs_far_more_than_it_shows_is_refused(
    content: bytes, reason: AttachmentRefusal
) -> None:
    assert _refusal(content) == (reason, False)


@pytest.mark.parametrize(
    "content",
    [
        pictures.blank_png(1_000, 10),
        pictures.progressive_jpeg(300, 200, 1),
        # What follows the end of a picture, such as the film of a telephone, may contain anything.
        pictures.progressive_jpeg(300, 200, 1) + b"\xff\xda\x00\x02" * 500,
        pictures.written(
            Image.new("P", (40, 30)),
            "GIF",
            save_all=True,
            append_images=[Image.new("P", (40, 30), number % 2 + 1) for number in range(3_000)],
        ),
    ],
    ids=["a banner", "progressive", "with a tail", "many frames"],
)
def test_an_unusual_picture_is_kept(content: bytes) -> None:
    assert _is_decoded(content)


def test_a_picture_that_needs_too_much_processor_time_or_memory_ends_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = pictures.progressive_jpeg(6_300, 6_300, MANY_SCANS)
    with monkeypatch.context() as limited:
        limited.setattr(decoding, "CPU_SECONDS", 1)
        assert _refusal(slow) == (R.DAMAGED, False)
    with monkeypatch.context() as limited:
        limited.setattr(decoding, "MEMORY", 150 * 1024**2)
        assert _refusal(pictures.blank_png(6_300, 6_300)) == (R.TOO_MANY_PIXELS, False)
    assert _is_decoded(pictures.png())


def test_a_decoder_that_is_ended_from_outside_or_gets_no_time_is_started_again_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "decoder.py"
    with monkeypatch.context() as changed:
        changed.setattr(decoding, "_PROGRAM", program)
        for ending in (signal.SIGKILL, signal.SIGTERM):
            program.write_text(f"import os; os.kill(os.getpid(), {ending:d})")
            assert _refusal(pictures.png()) == (R.DAMAGED, True)
        changed.setattr(decoding, "CLOCK_SECONDS", 0.01)
        program.write_text("import time; time.sleep(3600)")
        assert _refusal(pictures.png()) == (R.DAMAGED, True)
    assert _is_decoded(pictures.png())


def test_the_service_itself_needs_little_memory_for_any_picture() -> None:
    """Measured in a process of its own: the highest point of its memory, before and after."""
    program = """
import random, resource
from app.adapters.media import pictures as decoding
from app.core.attachments.fetching import FetchFailed
from tests.unit.attachments import pictures
noise = pictures.noise(1_800, 1_800)  # 10 MB
hostile = [pictures.blank_png(40_000_000, 1), pictures.blank_png(6_300, 6_300), noise]
def highest():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) // 1024
open("/proc/self/clear_refs", "w").write("5")
before = highest()
for content in hostile:
    try:
        decoding.rewrite(content)
    except FetchFailed:
        pass
print(highest() - before)
"""
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert int(output) <= 60
