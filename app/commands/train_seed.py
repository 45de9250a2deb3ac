"""``train-seed``: makes the weights of the shipped model again from the data (docs/run/model-card.md)."""

import os

# Set before NumPy is loaded: its kernels differ in the last digit between processors, and so would the weights.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
os.environ.setdefault(
    "NPY_DISABLE_CPU_FEATURES", "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
)

import hashlib
from pathlib import Path

import click

from app.commands.training.examples import BadLine, read_examples
from app.commands.training.training import TooFew, train
from app.core.classify.corpus import own_examples
from app.core.classify.seed import shipped_file


@click.command("train-seed")
@click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    help="Labelled texts as JSON lines, gzipped or not; docs/run/model-card.md describes the columns.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Where to write the weights, with words.npz beside them; by default in place of the shipped ones.",
)
def train_seed(data: Path, out: Path | None) -> None:
    """Train the shipped model. The same file gives the same weights, byte by byte; it takes some minutes."""
    try:
        content, words = train(
            read_examples(data), own_examples(), lambda message: click.echo(message, err=True)
        )
    except (BadLine, TooFew) as error:
        raise click.ClickException(f"{data.name}: {error}") from error
    target = out or shipped_file()
    target.parent.mkdir(parents=True, exist_ok=True)
    for file, written in ((target, content), (target.with_name("words.npz"), words)):
        file.write_bytes(written)
        click.echo(f"{file}: {len(written):,} bytes, sha256 {hashlib.sha256(written).hexdigest()}")
