"""Pictures are decoded and re-encoded: no metadata, no second file behind the first, a size that pages can bear.

A process of its own does it (``decoder.py``), with limits of memory and processor time, for a small file can need
gigabytes or minutes. When the system ends that process, only its picture is refused.
"""

import hashlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from io import BytesIO
from pathlib import Path
from typing import IO

from app.core import limits
from app.core.attachments.fetching import FetchFailed, Obtained, PreparedFile
from app.core.vocabulary import AttachmentRefusal

log = logging.getLogger(__name__)

MEMORY = 1024**3
CPU_SECONDS = 10
CLOCK_SECONDS = 60.0
"""For a machine so busy that the process gets no processor time; the picture is tried again later."""
OUTPUT_BYTES = 24 * 1024 * 1024
"""The largest result; noise of the kept size needs half of it."""
_PROGRAM = Path(__file__).with_name("decoder.py")
_ENVIRONMENT = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
"""The variables that Python may need to start. The others may hold secrets."""
_ENDED_FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
_decoding = threading.Lock()
"""A decoder may take a gigabyte and a core, so a process runs one at a time."""


def rewrite(content: bytes) -> Obtained:
    """Decode a picture, of an animation the first frame, and re-encode it with its preview.

    Raises:
        FetchFailed: it has too many pixels, it cannot be decoded, or not within the limits.
    """
    with _decoding, tempfile.TemporaryFile() as result:
        code = _decode(content, result)
        result.seek(0)
        if code == 0:
            return _read_result(result)
    # A positive code: the program itself failed, for example because the disk is full.
    retry = code > 0 or -code in _ENDED_FROM_OUTSIDE
    log.warning("The decoder of a picture ended with code %d%s", code, "; it is tried again" if retry else "")
    raise FetchFailed(AttachmentRefusal.DAMAGED, retry=retry)


def _decode(content: bytes, result: IO[bytes]) -> int:
    """Run the decoder and return its exit code; the negative number of the signal that ended it."""
    given = {
        "memory": MEMORY,
        "seconds": CPU_SECONDS,
        "output": OUTPUT_BYTES,
        "pixels": limits.PIXELS_MAX,
        "side": limits.PICTURE_SIDE_MAX,
        "ratio": limits.PICTURE_RATIO_MAX,
        "preview": limits.PREVIEW_BYTES,
    }
    try:
        return subprocess.run(  # noqa: S603 - our own program
            # -P: no file of this folder may hide a module of Python.
            [sys.executable, "-P", str(_PROGRAM), json.dumps(given)],
            input=content,
            stdout=result,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            timeout=CLOCK_SECONDS,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return -signal.SIGKILL
    except OSError as error:
        log.warning("The decoder of pictures could not be started: %s", error)
        return error.errno or 1


def _read_result(result: IO[bytes]) -> Obtained:
    said = json.loads(result.readline())
    if "refused" in said:
        raise FetchFailed(AttachmentRefusal(said["refused"]))
    main = _prepared(result.read(said["main"]), said["kind"])
    preview = _prepared(result.read(said["preview"]), "WEBP")
    return Obtained(main, preview, said["width"], said["height"])


def _prepared(content: bytes, kind: str) -> PreparedFile:
    name = hashlib.sha256(content).hexdigest()
    return PreparedFile(name, len(content), f"image/{kind.lower()}", BytesIO(content))
