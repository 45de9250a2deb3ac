"""Imports: a file is taken in, read and checked by a job, reported on, and stored by a job (docs/run/datasets.md).

Reading changes no dataset. Storing goes on in batches: each item changes whole, posts are compared with what is stored
so far, and items that a feed no longer holds are retired last. ``import_steps`` has the batches.
"""

import io
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits, outbox
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.factcheck import columns, datasets, feeds, reading
from app.core.factcheck.reading import BadFile, pieces
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import DatasetFeed, DatasetImport, DatasetImportPiece, DatasetImportRow
from app.core.permissions import SYSTEM, Actor, Permission, require, require_found
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import AfterReading, ImportFormat, ImportState, RowOutcome

IMPORT_JOB = "import_dataset"
ITEMS_MAX = 100_000
REFUSALS_KEPT = 1_000
"""Refused items are kept for the report up to this number, and then only counted; so are dates that we cannot read."""
REFUSALS_SHOWN = 100
STALLED = timedelta(minutes=2)
"""If no batch ran for this long, the sweep enqueues the job again."""
RUNNING = (ImportState.READING, ImportState.STORING)
ABANDONED = timedelta(days=7)
"""An import that waits for a person for this long is stopped."""
STORED = (RowOutcome.ADD, RowOutcome.CHANGE)
ENDED = (ImportState.FINISHED, ImportState.STOPPED, ImportState.FAILED)


@dataclass(frozen=True)
class Upload:
    """A file to import. ``name`` is that of the file, or the feed's address; ``charset`` is what its server says."""

    name: str
    content: bytes
    dataset_name: str = ""
    publisher: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    after_reading: AfterReading = AfterReading.WAIT
    charset: str = ""


def begin(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    upload: Upload,
    feed: DatasetFeed | None = None,
) -> DatasetImport:
    """Store a file and enqueue its reading; a CSV file waits until its columns are chosen.

    Raises:
        Invalid: the file is compressed and damaged, is no table, or holds nothing; a default is too long; or too many
            other imports of the community are unfinished.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    serialise(session, community_id)
    unfinished = sa.select(sa.func.count(DatasetImport.id)).where(
        DatasetImport.community_id == community_id,
        DatasetImport.feed_id.is_(None),
        DatasetImport.state.not_in(ENDED),
    )
    if feed is None:
        limits.room(limits.IMPORTS, session.scalar(unfinished) or 0, "import")
    _check_defaults(upload)
    try:
        stored, beginning, total = _read_beginning(upload)
        kind = reading.detect(io.BytesIO(beginning), upload.name)
        head = columns.head(io.BytesIO(beginning)) if kind is ImportFormat.CSV else None
    except BadFile as bad:
        raise Invalid.field("file", str(bad)) from None
    created = DatasetImport(
        id=new_id(),
        community_id=community_id,
        account_id=actor.account_id,
        feed_id=feed.id if feed is not None else None,
        serves_all=feed.serves_all if feed is not None else datasets.serves_all(actor),
        source=limits.storable(upload.name, "file")[-500:],
        format=kind,
        dataset_name=upload.dataset_name,
        publisher=upload.publisher,
        columns=dict(upload.columns),
        headers=list(head.headers) if head else [],
        samples=[list(row) for row in head.samples] if head else [],
        after_reading=upload.after_reading,
        retires=feed is not None and feed.retires,
        state=ImportState.READING,
        total_bytes=total,
    )
    if head is not None:
        chosen = dict(upload.columns) or columns.guess(head.headers)
        created.columns = {name: header for name, header in chosen.items() if header in head.headers}
        is_known = feed is not None and all(name in created.columns for name in columns.NEEDED)
        created.state = ImportState.READING if is_known else ImportState.COLUMNS
    session.add(created)
    session.flush()
    for number, content in enumerate(stored):
        piece = {"import_id": created.id, "number": number, "content": content}
        session.execute(sa.insert(DatasetImportPiece), piece)
    if created.state is ImportState.READING:
        enqueue(session, created)
    return created


def _check_defaults(upload: Upload) -> None:
    limits.text(upload.dataset_name, "dataset_name", limits.DATASET_NAME_MAX, least=0)
    limits.text(upload.publisher, "publisher", limits.NAME_MAX, least=0)


def _read_beginning(upload: Upload) -> tuple[Iterable[bytes], bytes, int]:
    """What is stored of a file, its beginning and its size, both unpacked. Raises BadFile.

    A compressed file stays so until its job reads it. One whose server names another character set is stored as UTF-8;
    JSON has no other.
    """

    def plain() -> Iterator[bytes]:
        return reading.unpacked(pieces(upload.content))

    beginning, total = reading.read_beginning(plain())
    charset = reading.codec(upload.charset) if upload.charset else None
    is_text = reading.detect(io.BytesIO(beginning), upload.name) in (ImportFormat.CSV, ImportFormat.PAGE)
    if charset is None or not is_text or reading.is_utf8(plain()):
        return pieces(upload.content), beginning, total
    beginning, total = reading.read_beginning(reading.as_utf8(plain(), charset))
    return reading.as_utf8(plain(), charset), beginning, total


def get(session: Session, actor: Actor, import_id: uuid.UUID) -> DatasetImport:
    """The import. Raises NotFound if it is unknown or another community's."""
    return require_found(actor, Permission.REVISE_POLICY, session.get(DatasetImport, import_id), "import")


def may_change(actor: Actor, found: DatasetImport) -> bool:
    """Whether the actor may go on with this import or stop it; a shared one needs a service admin."""
    return not found.serves_all or datasets.serves_all(actor)


def recent(
    session: Session, actor: Actor, community_id: uuid.UUID, limit: int = 10
) -> Sequence[DatasetImport]:
    """The community's latest imports, newest first."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return session.scalars(
        sa.select(DatasetImport)
        .where(DatasetImport.community_id == community_id)
        .order_by(DatasetImport.created_at.desc(), DatasetImport.id.desc())
        .limit(limit)
    ).all()


def refusals(session: Session, found: DatasetImport) -> Sequence[DatasetImportRow]:
    """The first refused items in the order of the file."""
    return _reported(session, found, DatasetImportRow.outcome == RowOutcome.REFUSE)


def undated(session: Session, found: DatasetImport) -> Sequence[DatasetImportRow]:
    """The first items, in the order of the file, that are imported without the date that they give."""
    return _reported(session, found, DatasetImportRow.outcome != RowOutcome.REFUSE)


def _reported(
    session: Session, found: DatasetImport, outcome: sa.ColumnElement[bool]
) -> Sequence[DatasetImportRow]:
    return session.scalars(
        sa.select(DatasetImportRow)
        .where(DatasetImportRow.import_id == found.id, outcome, DatasetImportRow.why != "")
        .order_by(DatasetImportRow.position)
        .limit(REFUSALS_SHOWN)
    ).all()


def choose_columns(
    session: Session, actor: Actor, import_id: uuid.UUID, chosen: Mapping[str, str], upload: Upload
) -> DatasetImport:
    """Set the columns of a CSV file, by member, and the defaults of ``upload``; then it is read.

    Raises:
        Invalid: a needed column is missing, one is chosen twice, or neither column nor default says the dataset.
        Conflict: it is being read already.
    """
    found = _locked(session, actor, import_id)
    if found.state is not ImportState.COLUMNS:
        raise Conflict(_("The columns of this file are chosen already"))
    problems = [
        Invalid.field(member, _("needs a column")) for member in columns.NEEDED if not chosen.get(member)
    ]
    for member, header in chosen.items():
        if header and header not in found.headers:
            problems.append(Invalid.field(member, _("is no column of this file")))
        elif header and list(chosen.values()).count(header) > 1:
            problems.append(Invalid.field(member, _("has a column that another one has too")))
    for member, default in (("dataset_name", upload.dataset_name), ("publisher", upload.publisher)):
        if not chosen.get(member) and not default:
            problems.append(Invalid.field(member, _("needs a column, or a name for all rows")))
    if problems:
        raise Invalid(*(problem for refused in problems for problem in refused.problems))
    _check_defaults(upload)
    found.columns = {member: header for member, header in chosen.items() if header}
    found.dataset_name, found.publisher = upload.dataset_name, upload.publisher
    found.after_reading = upload.after_reading
    found.state = ImportState.READING
    if found.feed_id is not None:
        # The next fetch is read in the same way.
        session.get_one(DatasetFeed, found.feed_id).columns = found.columns
    session.flush()
    enqueue(session, found)
    return found


def store(session: Session, actor: Actor, import_id: uuid.UUID) -> DatasetImport:
    """Store what was read. Raises Conflict when it is not waiting for that, or there is nothing to store."""
    found = _locked(session, actor, import_id)
    if found.state is not ImportState.READ:
        raise Conflict(_("This import is not waiting to be stored any more"))
    if not (found.to_store or found.retiring):
        raise Conflict(_("There is nothing to store"))
    found.state, found.moved_at = ImportState.STORING, clock.now()
    session.flush()
    enqueue(session, found)
    return found


def stop(session: Session, actor: Actor, import_id: uuid.UUID) -> DatasetImport:
    """Stop an import. What is stored stays; the same file can be imported again and changes only what is missing."""
    found = _locked(session, actor, import_id)
    if found.state not in ENDED:
        end(session, found, ImportState.STOPPED)
    return found


def fail(session: Session, import_id: uuid.UUID, problem: str) -> None:
    """End an import that cannot go on; ``problem`` is one sentence."""
    found = session.get(DatasetImport, import_id)
    if found is not None and found.state not in ENDED:
        found.problem = problem[:500]
        end(session, found, ImportState.FAILED)


def end(session: Session, found: DatasetImport, state: ImportState) -> None:
    """End an import in this state. A job deletes its file, and all rows but those of the report.

    A feed whose import brought nothing of use is read again soon.
    """
    found.state, found.ended_at, found.moved_at = state, clock.now(), clock.now()
    if found.feed_id is not None:
        feeds.import_ended(session, found)
    session.flush()
    enqueue(session, found)


def record(session: Session, found: DatasetImport, actor: Actor) -> None:
    """Record a stored import in the community's history."""
    names = session.scalars(
        sa.select(DatasetImportRow.dataset_name)
        .where(DatasetImportRow.import_id == found.id, DatasetImportRow.outcome.in_(STORED))
        .distinct()
    )
    after: dict[str, object] = {
        "datasets": sorted(name for name in names if name),
        "new": found.added,
        "changed": found.changed,
        "unchanged": found.unchanged,
        "retired": found.retired,
        "refused": found.refused,
        "serves_all": found.serves_all,
    }
    reason = Reason()
    if found.feed_id is not None:
        actor, reason = SYSTEM, Reason(cause=f"feed {found.source}")
    history.record(
        session,
        actor,
        found.community_id,
        "dataset.imported",
        "community",
        found.community_id,
        after=after,
        reason=reason,
    )


def enqueue(session: Session, found: DatasetImport, suffix: str = "") -> None:
    """Enqueue the job of the import's present state."""
    args, key = {"import_id": str(found.id)}, f"{found.id}:{found.state.value}{suffix}"
    outbox.enqueue(session, IMPORT_JOB, args, community_id=found.community_id, key=key)


def enqueue_stalled(session: Session) -> None:
    """Enqueue running imports again that have had no batch for ``STALLED``: their job was lost."""
    now = clock.now()
    stalled = DatasetImport.state.in_(RUNNING) & (DatasetImport.moved_at < now - STALLED)
    for found in session.scalars(sa.select(DatasetImport).where(stalled)):
        enqueue(session, found, f":{int(now.timestamp() // STALLED.total_seconds())}")


def stop_abandoned(session: Session) -> None:
    """Stop imports that waited too long for a person: their files and rows would never be deleted."""
    waiting = DatasetImport.state.in_((ImportState.COLUMNS, ImportState.READ))
    abandoned = sa.select(DatasetImport).where(waiting, DatasetImport.moved_at < clock.now() - ABANDONED)
    for found in session.scalars(abandoned).all():
        found.problem = lazy_gettext("It was left unfinished for a week.")
        end(session, found, ImportState.STOPPED)


def _locked(session: Session, actor: Actor, import_id: uuid.UUID) -> DatasetImport:
    found = get(session, actor, import_id)
    if not may_change(actor, found):
        raise Forbidden(_("This import serves every community: only a service admin may change it"))
    serialise(session, found.community_id)
    session.refresh(found)
    return found
