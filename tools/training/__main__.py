"""``python -m tools.training seed`` and ``matcher``: make the shipped weights again from the data.

The shipped model is described in docs/run/model-card.md, the matcher of fact-checks in docs/moderate/fact-checks.md.
"""

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

from app.core.classify.corpus import own_examples
from app.core.classify.seed import shipped_file
from app.core.factcheck.matching.weights import meaning_file, shipped
from app.core.factcheck.matching.weights import shipped_file as matcher_file
from tools.training import matcher, meaning, spaces
from tools.training.examples import BadLine, json_lines, read_examples
from tools.training.training import TooFew, train

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
_TARGET = click.Path(dir_okay=False, writable=True, path_type=Path)


@click.group()
def cli() -> None:
    """Train the weights that come with the service. The same data give the same bytes."""


@cli.command("seed")
@click.option(
    "--data",
    required=True,
    type=_FILE,
    help="Labelled texts as JSON lines, gzipped or not; docs/run/model-card.md describes the columns.",
)
@click.option(
    "--out",
    type=_TARGET,
    help="Where to write the weights, with words.npz beside them; by default in place of the shipped ones.",
)
def train_seed(data: Path, out: Path | None) -> None:
    """Train the shipped model. The same file gives the same weights, byte by byte; it takes some minutes."""
    try:
        content, words = train(read_examples(data), own_examples(), _say)
    except (BadLine, TooFew) as error:
        raise click.ClickException(f"{data.name}: {error}") from error
    target = out or shipped_file()
    target.parent.mkdir(parents=True, exist_ok=True)
    for file, written in ((target, content), (target.with_name("words.npz"), words)):
        _write(file, written)


@cli.command("matcher")
@click.option(
    "--data",
    required=True,
    type=_FOLDER,
    help="Folder with claims, train_queries and nomatch_queries, each a .jsonl.gz file (docs/moderate/fact-checks.md).",
)
@click.option("--posts", type=_FILE, help="Ordinary posts as JSON lines, to count words in.")
@click.option(
    "--meaning",
    "is_meaning",
    is_flag=True,
    help="Train only what vectors add to the shipped weights of words; --posts is not needed.",
)
@click.option(
    "--vectors",
    "files",
    type=_FILE,
    multiple=True,
    help="With --meaning: vectors of an embeddings model, .npz with an array for each file of --data, a row a line.",
)
@click.option(
    "--out",
    type=_TARGET,
    help="Where to write the weights; by default in place of the shipped ones.",
)
def train_matcher(
    data: Path, posts: Path | None, is_meaning: bool, files: tuple[Path, ...], out: Path | None
) -> None:
    """Train the fact-check matcher. The same data gives the same weights; it takes some minutes."""
    claims = [
        (row["id"], row["claim"], row.get("title") or "") for row in json_lines(data / "claims.jsonl.gz")
    ]
    matching = matcher.queries(data / "train_queries.jsonl.gz")
    unmatched = matcher.queries(data / "nomatch_queries.jsonl.gz")
    if is_meaning:
        real = {file.stem: spaces.read_space(file, claims, matching, unmatched) for file in files}
        content = meaning.train(claims, matching, unmatched[:: spaces.EVERY], shipped(), _say, real)
    elif posts is None:
        raise click.UsageError("--posts is needed, unless only --meaning is trained")
    else:
        usual = matcher.background(posts)
        _say("Words of ordinary posts counted")
        content = matcher.train(claims, matching, unmatched, usual, _say)
    target = out or (meaning_file() if is_meaning else matcher_file())
    _write(target, content)


def _say(message: str) -> None:
    click.echo(message, err=True)


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    click.echo(f"{file}: {len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    cli(prog_name="python -m tools.training")
