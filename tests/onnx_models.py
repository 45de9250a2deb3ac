"""Makes the folder of a tiny model: it looks each word up in a table of outputs and takes the highest of each label."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

WORDS = ("[PAD]", "[UNK]", "kitten", "puppy")
OUTPUTS = ((-9.0, -9.0), (-4.0, -4.0), (3.0, -4.0), (-4.0, 2.0))
"""By word, the outputs for toxicity and for a label without a use; an unknown word has low ones."""
ABOUT = {
    "name": "Kitten finder",
    "version": "1",
    "licence": "CC0-1.0",
    "labels": {"0": "toxicity", "1": None},
    "activation": "sigmoid",
    "max_tokens": 16,
    "thresholds": {"toxicity": 0.7},
}
FLOAT, INT64 = 1, 7
"""Element types of ONNX (onnx.proto, ``TensorProto.DataType``)."""


def write_model(
    folder: Path,
    about: Mapping[str, Any] = ABOUT,
    outputs: Sequence[Sequence[float]] = OUTPUTS,
    *,
    megabytes: int = 0,
) -> Path:
    """Write all files of a model into a new folder, and return it. ``megabytes`` is its additional working memory."""
    folder.mkdir(parents=True)
    (folder / "bridgenote.json").write_text(json.dumps(about))
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer()))
    (folder / "README.md").write_text("# A model card\n")
    (folder / "model.onnx").write_bytes(model_bytes(outputs, megabytes))
    return folder


def _tokenizer() -> dict[str, Any]:
    """Words by spaces and punctuation, in lower case, as the ``tokenizers`` library writes it."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: place for place, word in enumerate(WORDS)},
            "unk_token": "[UNK]",
        },
    }


def model_bytes(outputs: Sequence[Sequence[float]], megabytes: int = 0) -> bytes:
    """An ONNX graph: Gather the rows of ``outputs`` by ``input_ids``, then ReduceMax over the words.

    ``megabytes`` of zeros for each text are made at a run, and the highest of them is added.
    """
    table = np.asarray(outputs, np.float32)
    gather = _strings(1, "table", "input_ids") + _strings(2, "rows") + _field(4, "Gather")
    axes = _field(5, _field(1, "axes") + _field(8, 1) + _field(20, 7))
    keep = _field(5, _field(1, "keepdims") + _field(3, 0) + _field(20, 2))
    highest = _strings(1, "rows") + _strings(2, "highest") + _field(4, "ReduceMax") + axes + keep
    # By the shape of the input, so that the zeros cannot be made beforehand.
    shape = _strings(1, "input_ids") + _strings(2, "shape") + _field(4, "Shape")
    least = _strings(1, "shape") + _strings(2, "least") + _field(4, "ReduceMin")
    size = _strings(1, "sizes", "least") + _strings(2, "size") + _field(4, "Mul")
    zeros = _strings(1, "size") + _strings(2, "zeros") + _field(4, "ConstantOfShape")
    zero = _strings(1, "zeros") + _strings(2, "zero") + _field(4, "ReduceMax") + keep
    add = _strings(1, "highest", "zero") + _strings(2, "logits") + _field(4, "Add")
    sizes = _field(1, 1) + _field(2, INT64) + _field(8, "sizes")
    sizes += _field(9, np.array([max(1, megabytes * 256 * 1024)], np.int64).tobytes())
    tensor = b"".join(_field(1, size) for size in table.shape)
    tensor += _field(2, FLOAT) + _field(8, "table") + _field(9, table.tobytes())
    graph = b"".join(_field(1, node) for node in (gather, highest, shape, least, size, zeros, zero, add))
    graph += _field(2, "tiny") + _field(5, tensor) + _field(5, sizes)
    for name in ("input_ids", "attention_mask"):
        graph += _field(11, _value(name, INT64, "texts", "words"))
    graph += _field(12, _value("logits", FLOAT, "texts", table.shape[1]))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 13))


# Protocol buffers by hand: a field is its number and type, then a number, or a length and bytes.


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(raw)) + raw


def _strings(number: int, *values: str) -> bytes:
    return b"".join(_field(number, value) for value in values)


def _value(name: str, kind: int, *sizes: int | str) -> bytes:
    shape = b"".join(
        _field(1, _field(2, size) if isinstance(size, str) else _field(1, size)) for size in sizes
    )
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))
