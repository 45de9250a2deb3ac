"""``train-matcher``: makes the weights of the fact-check matcher again from the data (docs/moderate/fact-checks.md)."""

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

from app.commands.files import json_lines
from app.commands.training import matcher, meaning, spaces
from app.core.factcheck.matching.weights import meaning_file, shipped, shipped_file

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)


@click.command("train-matcher")
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
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Where to write the weights; by default in place of the shipped ones.",
)
def train_matcher(
    data: Path, posts: Path | None, is_meaning: bool, files: tuple[Path, ...], out: Path | None
) -> None:
    """Train the fact-check matcher. The same data gives the same weights; it takes some minutes."""

    def say(message: str) -> None:
        click.echo(message, err=True)

    claims = [
        (row["id"], row["claim"], row.get("title") or "") for row in json_lines(data / "claims.jsonl.gz")
    ]
    matching = matcher.queries(data / "train_queries.jsonl.gz")
    unmatched = matcher.queries(data / "nomatch_queries.jsonl.gz")
    if is_meaning:
        real = {file.stem: spaces.read_space(file, claims, matching, unmatched) for file in files}
        content = meaning.train(claims, matching, unmatched[:: spaces.EVERY], shipped(), say, real)
    elif posts is None:
        raise click.UsageError("--posts is needed, unless only --meaning is trained")
    else:
        usual = matcher.background(posts)
        say("Words of ordinary posts counted")
        content = matcher.train(claims, matching, unmatched, usual, say)
    target = out or (meaning_file() if is_meaning else shipped_file())
    target.write_bytes(content)
    click.echo(f"{target}: {len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}")
