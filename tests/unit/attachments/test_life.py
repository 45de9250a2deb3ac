"""An attachment's life: fetched once after the commit, kept or refused, and removed with its post."""

import hashlib
import uuid
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from app.adapters.media import pictures as decoding
from app.adapters.media.folder_store import FolderStore
from app.adapters.media.obtaining import checked
from app.commands.backup import backups, media
from app.commands.doctor import work
from app.core.attachments import fetching, files
from app.core.attachments.adding import FETCH_JOB, NewAttachment
from app.core.attachments.fetching import FetchFailed, Obtained
from app.core.attachments.files import StoreFailed
from app.core.errors import Invalid
from app.core.models import Attachment, Community, MediaFile, Request
from app.core.permissions import SYSTEM
from app.core.requests import submitting
from app.core.upkeep import erasure
from app.core.vocabulary import AttachmentKind, AttachmentRefusal, AttachmentState, RequestStatus
from app.jobs import attachments, upkeep
from app.process import runtime
from app.settings import Settings
from app.wiring import Wiring, wire
from tests import factories
from tests.cast import PLATFORM, Cast
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.unit.attachments import pictures

KEPT, REFUSED, WAITING = AttachmentState.KEPT, AttachmentState.REFUSED, AttachmentState.WAITING


class Web:
    """Fake of the network: what each URL gives, or why it fails. Everything is checked as in production."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | FetchFailed | Callable[[], bytes]] = {}
        self.asked: list[str] = []

    def obtain(self, url: str, kind: AttachmentKind) -> Obtained:
        self.asked.append(url)
        page = self.pages[url]
        if isinstance(page, FetchFailed):
            raise page
        body = page() if callable(page) else page
        return checked(BytesIO(body), len(body), "0" * 64, kind)


@pytest.fixture
def web(wiring: Wiring) -> Web:
    made = Web()
    wiring.obtainer = made
    return made


def _submit(wiring: Wiring, cast: Cast, *urls: str, number: int = 1, author: str = "ann") -> uuid.UUID:
    sent = [NewAttachment(url, AttachmentKind.IMAGE) for url in urls]
    submission = submitting.Submission(
        f"post-{number}", "poster", "A quiet word", platform_author_id=author, attachments=sent
    )
    with wiring.database.writing() as session:
        return submitting.submit(
            session, factories.integration(cast), cast.community_id, submission
        ).request.id


def _of(wiring: Wiring, request_id: uuid.UUID) -> list[Attachment]:
    with wiring.database.reading() as session:
        return list(
            session.scalars(
                sa.select(Attachment).where(Attachment.request_id == request_id).order_by(Attachment.position)
            )
        )


def _stored(wiring: Wiring) -> set[str]:
    assert wiring.settings.media_folder.is_relative_to(wiring.settings.data_dir.resolve())
    return set(wiring.media.names())


def test_each_attachment_is_fetched_once_and_one_that_fails_holds_nothing_up(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, web: Web
) -> None:
    bomb = pictures.claiming(20_000, 20_000)
    web.pages = {"https://a.example/1": pictures.png(), "https://a.example/2": bomb}
    web.pages["https://a.example/3"] = FetchFailed(AttachmentRefusal.NOT_FOUND)
    request_id = _submit(wiring, cast, *web.pages)
    jobs.run_all()
    kept, refused, missing = _of(wiring, request_id)
    assert (kept.state, kept.media_type, kept.stored_width) == (KEPT, "image/jpeg", 8)
    assert (refused.state, refused.reason) == (REFUSED, "too_many_pixels")
    assert (missing.state, missing.reason) == (REFUSED, "not_found")
    assert _stored(wiring) == {kept.sha256, kept.preview_sha256}
    attachments.fetch(wiring, kept.id)
    assert web.asked == list(web.pages)
    with wiring.database.reading() as session:
        assert session.get_one(Request, request_id).status is RequestStatus.COMPLETED


def test_a_picture_whose_decoder_is_ended_by_the_system_is_refused_and_those_beside_it_are_kept(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "CPU_SECONDS", 1)
    slow = pictures.progressive_jpeg(6_300, 6_300, 80)
    web.pages = {"https://a.example/1": slow, "https://a.example/2": pictures.png()}
    request_id = _submit(wiring, cast, *web.pages)
    jobs.run_all()
    refused, kept = _of(wiring, request_id)
    assert (refused.state, refused.reason, kept.state) == (REFUSED, "damaged", KEPT)
    with wiring.database.reading() as session:
        assert session.get_one(Request, request_id).status is RequestStatus.COMPLETED


def test_a_fetch_is_tried_again_later_and_not_for_ever(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, web: Web
) -> None:
    url = "https://a.example/1"
    web.pages = {url: FetchFailed(AttachmentRefusal.TOO_SLOW, retry=True)}
    request_id = _submit(wiring, cast, url)
    jobs.run_all()
    assert _of(wiring, request_id)[0].state is WAITING
    assert [job.name for job in jobs.jobs()] == [FETCH_JOB]
    for _ in range(6):
        advance(seconds=2_000)
        jobs.run_all()
    (given_up,) = _of(wiring, request_id)
    assert (given_up.state, given_up.reason) == (REFUSED, "too_slow")
    assert len(web.asked) == 4


def test_a_process_that_dies_while_fetching_leaves_work_that_is_done_again_a_few_times(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, web: Web
) -> None:
    url = "https://a.example/1"

    def die() -> bytes:
        raise KeyboardInterrupt

    web.pages = {url: die}
    request_id = _submit(wiring, cast, url)
    (attachment,) = _of(wiring, request_id)
    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            attachments.fetch(wiring, attachment.id)
        advance(seconds=1_300)
        with wiring.database.writing() as session:
            assert fetching.enqueue_lost(session) == 1
    web.pages = {url: pictures.png()}
    attachments.fetch(wiring, attachment.id)
    assert _of(wiring, request_id)[0].reason == "damaged"

    # Killed after the file was written, the job finds it there and uses it.
    other_id = _submit(wiring, cast, url, number=2)
    obtained = web.obtain(url, AttachmentKind.IMAGE)
    attachments._store(wiring, obtained)
    (other,) = _of(wiring, other_id)
    attachments.fetch(wiring, other.id)
    assert _of(wiring, other_id)[0].sha256 == obtained.main.sha256
    assert len(_stored(wiring)) == 2


def test_a_process_fetches_few_at_once_so_that_scoring_has_room(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, web: Web
) -> None:
    web.pages = {"https://a.example/1": pictures.png()}
    request_id = _submit(wiring, cast, *web.pages)
    for _ in range(attachments.AT_ONCE):
        assert attachments._slots.acquire(blocking=False)
    try:
        jobs.run_all()
    finally:
        attachments._slots.release(attachments.AT_ONCE)
    assert web.asked == []
    assert _of(wiring, request_id)[0].attempts == 0
    with wiring.database.reading() as session:
        assert session.get_one(Request, request_id).status is RequestStatus.COMPLETED
    advance(seconds=10)
    jobs.run_all()
    assert _of(wiring, request_id)[0].state is KEPT


@pytest.mark.both_databases
def test_files_go_with_the_last_post_that_uses_them(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, web: Web
) -> None:
    web.pages = {"https://a.example/1": pictures.png(), "https://a.example/2": pictures.png(colour="red")}
    one, two = list(web.pages)
    first = _submit(wiring, cast, one, two, number=1)
    jobs.run_all()
    advance(seconds=31 * 86_400)
    second = _submit(wiring, cast, one, number=2)
    jobs.run_all()
    shared, alone = _of(wiring, first)
    assert len(_stored(wiring)) == 4
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"content_retention_days": 30}
    upkeep.remove_content(wiring)
    assert _of(wiring, first) == []
    assert _stored(wiring) == {shared.sha256, shared.preview_sha256}
    assert alone.sha256 not in _stored(wiring)

    # Erasing the author takes the rest; the words of the post stay.
    advance(seconds=7_200)
    with wiring.database.writing() as session:
        gone = erasure.erase_identity(session, SYSTEM, PLATFORM, "ann", "forum-1").gone
        assert gone["attachments"] == 1
        assert session.get_one(Request, second).content == "A quiet word"
        assert not session.get_one(Request, second).has_attachments
    attachments.clean(wiring)
    assert _stored(wiring) == set()
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(MediaFile)).all() == []


def test_a_file_is_not_deleted_while_somebody_begins_to_use_it(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "https://a.example/1"
    web.pages = {url: pictures.png()}
    obtained = web.obtain(url, AttachmentKind.IMAGE)
    attachments._store(wiring, obtained)
    assert attachments.clean(wiring) == 0  # announced a moment ago
    advance(seconds=files.GRACE.total_seconds() + 1)

    # While the cleaner is between its mark and the deletion, the same picture is fetched.
    request_id = _submit(wiring, cast, url)
    remove = wiring.media.remove

    def meanwhile(name: str) -> None:
        if not web.asked[1:]:
            attachments.fetch(wiring, _of(wiring, request_id)[0].id)
        remove(name)

    monkeypatch.setattr(wiring.media, "remove", meanwhile)
    assert attachments.clean(wiring) == 2
    assert _of(wiring, request_id)[0].state is WAITING
    advance(seconds=60)
    jobs.run_all()
    (kept,) = _of(wiring, request_id)
    assert kept.state is KEPT
    assert _stored(wiring) == {kept.sha256, kept.preview_sha256}


def test_a_store_that_fails_is_asked_again_and_unknown_files_of_our_folder_are_deleted(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.pages = {"https://a.example/1": pictures.png()}
    request_id = _submit(wiring, cast, *web.pages)

    def full(*_file: Any) -> None:
        raise StoreFailed("no space")

    with monkeypatch.context() as patched:
        patched.setattr(wiring.media, "put", full)
        jobs.run_all()
    assert _of(wiring, request_id)[0].state is WAITING
    advance(seconds=60)
    jobs.run_all()
    assert _of(wiring, request_id)[0].state is KEPT
    wiring.media.put("ef" * 32, BytesIO(b"x"), 1)
    assert attachments.clean(wiring) == 1
    assert len(_stored(wiring)) == 2


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_backup_has_the_files_and_doctor_tells_of_them(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, web: Web, tmp_path: Path
) -> None:
    runtime.migrate(wiring.settings)
    web.pages = {"https://a.example/1": pictures.png()}
    request_id = _submit(wiring, cast, *web.pages)
    jobs.run_all()
    (kept,) = _of(wiring, request_id)
    file = tmp_path / "backup"
    backups.back_up(wiring.settings, file)
    assert file.stat().st_mode & 0o777 == 0o600

    key = wiring.settings.encryption_key
    folder = tmp_path / "other"
    other = Settings(_env_file=None, environment="test", data_dir=folder, encryption_key=key).ready()
    assert backups.restore(other, file).files == 2
    restored = wire(other)
    try:
        assert set(restored.media.names()) == {kept.sha256, kept.preview_sha256}
        whole = b"".join(restored.media.read(kept.sha256 or "", 0, 10_000))
        assert hashlib.sha256(whole).hexdigest() == kept.sha256
        assert _of(restored, request_id)[0].state is KEPT
        (found,) = work.attachments(restored)
        assert found.detail.startswith("2 files, 0.0 MB, in ")
        restored.media.remove(kept.sha256 or "")
        assert [one.state for one in work.attachments(restored)] == ["warn"]
    finally:
        restored.database.dispose()

    damaged = file.read_bytes().replace(whole[-40:], bytes(40))
    database = Path(sa.make_url(other.sqlalchemy_url).database or "")
    before = database.stat().st_ino, database.read_bytes()
    for content in (damaged, damaged[:-11_000]):
        file.write_bytes(content)
        with pytest.raises(Invalid, match="damaged"):
            backups.restore(other, file, force=True, unsigned=True)
        assert (database.stat().st_ino, database.read_bytes()) == before, "the database is not replaced"


def test_a_backup_with_a_damaged_header_is_refused(tmp_path: Path) -> None:
    store, file = FolderStore(tmp_path / "media"), tmp_path / "backup"
    for number in range(3):
        content = bytes([number]) * 700
        store.put(hashlib.sha256(content).hexdigest(), BytesIO(content), len(content))
    file.write_bytes(b"database" * 200)
    media.bundle(file, tmp_path / "media")
    media.check_files(file)
    whole = file.read_bytes()
    headers = [place for place in range(0, len(whole), 512) if whole[place + 257 : place + 262] == b"ustar"]
    assert len(headers) == 4
    zeros = bytes(512)
    for damaged in (
        whole[: headers[2] + 10] + b"!" + whole[headers[2] + 11 :],
        whole[: headers[2]] + zeros + whole[headers[2] + 512 :],
        whole[: headers[3]],
        whole[: headers[3] + 512 + 1024],
    ):
        file.write_bytes(damaged)
        with pytest.raises(Invalid, match="damaged"):
            media.check_files(file)
