"""``submit``: submits a file of posts, or only observes what would have been done about them (docs/run/commands.md)."""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from app.api import parse, requests
from app.api.schemas.requests import RequestCreate
from app.commands import files
from app.commands.opening import community_of, opened_wiring
from app.core.batches import BatchSize
from app.core.classify import Context
from app.core.classify.language import detect, named
from app.core.db import serialise
from app.core.errors import Invalid, Refused
from app.core.factcheck.reading import LINE_BYTES
from app.core.limits import BATCH_MAX
from app.core.permissions import SYSTEM
from app.core.requests import observing, submitting
from app.core.requests.observing import Past
from app.core.requests.scorings import score_text
from app.core.requests.submitting import Submission
from app.core.vocabulary import ActionTier
from app.wiring import Wiring

PLAIN_SECONDS = 10.0
"""How often a line tells how far it is, where there is no terminal to draw a bar on."""

Line = tuple[int, bytes]
Numbered = tuple[int, Submission]


@dataclass
class Totals:
    """What came of the lines so far, in posts."""

    submitted: int = 0
    known: int = 0
    refused: int = 0
    waiting: int = 0
    scored: int = 0
    routes: Counter[tuple[str, ActionTier]] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    """By classifier: the posts that it could not score."""

    def __str__(self) -> str:
        return f"{self.submitted:,} submitted, {self.known:,} known before, {self.refused:,} refused"


@click.command("submit")
@click.argument(
    "file", type=click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=Path)
)
@click.option("--platform", required=True, help="The community's platform, such as discourse.")
@click.option("--community", required=True, help="The platform's own id of the community; opened if unknown.")
@click.option(
    "--observe", is_flag=True, help="Score the posts as of when they were posted, and do nothing about them."
)
def submit(file: Path, platform: str, community: str, observe: bool) -> None:
    """Submit the posts of FILE, one JSON object a line with the attributes of `POST /requests`; `-`: standard input.

    A line may leave out community_server_id. FILE may be compressed with gzip. Called again, it goes on: what is known
    by its request_id is not submitted twice. A line that is refused is told with its number, and the others go on; the
    exit status is then 1.

    With --observe every line needs platform_timestamp, within the last year. Nothing follows from these posts: no
    action, no webhook, no question to raters. The preview of thresholds and Insights show them when they were posted.
    """
    totals = Totals()
    with opened_wiring() as wiring:
        with wiring.database.writing() as session:
            community_id = community_of(session, platform, community).id
        run = _Run(wiring, community_id, {community, str(community_id)}, observe, totals)
        size, lines = BatchSize(BATCH_MAX), files.lines(file)
        with _progress(file, totals) as advance:
            while batch := list(islice(lines, size.rows)):
                run.take(batch, size)
                advance(sum(len(line) for _, line in batch))
    _summarise(totals)
    if totals.refused:
        raise click.exceptions.Exit(1)


@dataclass
class _Run:
    wiring: Wiring
    community_id: uuid.UUID
    names: set[str]
    """What a line may call the community."""
    observe: bool
    totals: Totals

    def take(self, lines: Sequence[Line], size: BatchSize) -> None:
        posts = list(self._read(lines))
        if self.observe:
            self._observe(posts, size)
        else:
            self._submit(posts, size)
        ids = {submission.request_id for _, submission in posts}
        with self.wiring.database.reading() as session:
            foreseen = observing.foresee(session, self.community_id, ids)
        self.totals.waiting += len(ids) - foreseen.scored
        self.totals.scored += foreseen.scored
        self.totals.routes += foreseen.routes

    def _read(self, lines: Sequence[Line]) -> Iterator[Numbered]:
        for number, line in lines:
            try:
                yield number, self._submission(line)
            except Refused as refused:
                self._refuse(number, refused)

    def _submission(self, line: bytes) -> Submission:
        if len(line) > LINE_BYTES:
            raise Refused(f"is longer than {LINE_BYTES:,} bytes")
        attributes = parse.loads(line.removeprefix(b"\xef\xbb\xbf"))
        if isinstance(attributes, dict):
            attributes.setdefault("community_server_id", str(self.community_id))
        body = parse.validated(RequestCreate, attributes, ())
        if body.community_server_id not in self.names:
            raise Invalid.field("community_server_id", "names another community than --community")
        submission = requests.submission_of(body)
        submitting.check(submission)
        if self.observe:
            observing.posted_at(submission)
        return submission

    def _refuse(self, number: int, refused: Refused) -> None:
        self.totals.refused += 1
        reasons = [refused.detail.removeprefix("Request body ")]
        if isinstance(refused, Invalid):
            reasons = [
                ": ".join(filter(None, (".".join(map(str, one.loc)), one.msg))) for one in refused.problems
            ]
        for reason in reasons:
            click.echo(f"line {number}: {reason}", err=True)

    def _submit(self, posts: Sequence[Numbered], size: BatchSize) -> None:
        with size.timed(), self.wiring.database.writing() as session:
            serialise(session, self.community_id)
            for number, submission in posts:
                try:
                    is_new = submitting.submit(session, SYSTEM, self.community_id, submission).new
                except Refused as refused:
                    self._refuse(number, refused)
                    continue
                self.totals.submitted += is_new
                self.totals.known += not is_new

    def _observe(self, posts: Sequence[Numbered], size: BatchSize) -> None:
        ids = [submission.request_id for _, submission in posts]
        with self.wiring.database.reading() as session:
            known = observing.known(session, self.community_id, ids)
            classifiers = self.wiring.classifiers_for(session, self.community_id)
        past = []
        for _, submission in posts:
            if submission.request_id in known:
                continue
            language = detect(submission.content)
            context = Context(community_id=self.community_id, language=named(language))
            scorings = score_text(classifiers, submission.content, context)
            self.totals.failed.update(one.classifier for one in scorings if one.result.error is not None)
            past.append(Past(submission, scorings, language))
        with size.timed(), self.wiring.database.writing() as session:
            new = observing.store(session, SYSTEM, self.community_id, past)
        self.totals.submitted += new
        self.totals.known += len(posts) - new


@contextmanager
def _progress(file: Path, totals: Totals) -> Iterator[Callable[[int], object]]:
    """Show how far the file is read. The block calls the function that it gets with the bytes of each batch."""
    console = Console(stderr=True)
    if not console.is_terminal:
        told = time.monotonic()

        def tell(_count: int) -> None:
            nonlocal told
            if time.monotonic() - told >= PLAIN_SECONDS:
                told = time.monotonic()
                click.echo(f"{totals} …", err=True)

        yield tell
        return
    size = file.stat().st_size if file.is_file() and file.suffix != ".gz" else None
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(str(totals), total=size)
        yield lambda count: progress.update(task, advance=count, description=str(totals))


def _summarise(totals: Totals) -> None:
    click.echo(f"{totals}.")
    for name, count in totals.failed.most_common():
        click.echo(f"{name} could not score {count:,} of them.")
    if totals.waiting:
        click.echo(f"{totals.waiting:,} are not scored yet: the running service does it.")
    if not totals.scored:
        return
    click.echo(f"The thresholds in force, of the {totals.scored:,} that are scored:")
    for name in sorted({name for name, _ in totals.routes}):
        acted, asked = (totals.routes[name, tier] for tier in (ActionTier.IMMEDIATE, ActionTier.CONSENSUS))
        click.echo(f"  {name:<20} {acted:>9,} acted on at once {asked:>9,} sent to people")
    click.echo(f"  {'nothing':<20} {totals.scored - totals.routes.total():>9,}")
