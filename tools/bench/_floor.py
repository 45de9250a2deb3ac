"""The floor: the barest views that read and write the same rows under the same server. No auth, no limits, no rules.

Started by ``api``; the first argument is the port, the second the SQLite file of a stopped service.
"""

import json
import sys
import uuid
from collections.abc import Callable
from typing import Any

import flask
import sqlalchemy as sa

from app.core import clock
from app.core.db import Database
from app.core.ids import new_id
from app.core.models import HistoryEntry, HistoryText, Note, NoteSums, Profile, Rating, Request
from app.core.vocabulary import HelpfulnessLevel
from app.process.serve import serve
from app.process.worker import WSGIApp


def _job_like(database: Database) -> Callable[[Any, str], None]:
    """Writes a job of the same rows as the engine's: copies, but for their id, of what the service has left there."""
    inserts = []
    with database.reading() as session:
        for table in ("workflow_status", "workflow_input"):
            row = dict(session.execute(sa.text(f"SELECT * FROM {table} LIMIT 1")).mappings().one())  # noqa: S608
            names = ", ".join(row)
            places = ", ".join(f":{name}" for name in row)
            inserts.append((sa.text(f"INSERT INTO {table} ({names}) VALUES ({places})"), row))  # noqa: S608

    def write(session: Any, name: str) -> None:
        for insert, row in inserts:
            session.execute(insert, row | {"workflow_uuid": name})

    return write


def make(url: str) -> WSGIApp:
    database, app = Database(url), flask.Flask("floor")
    write_job = _job_like(database)
    columns = tuple(Request.__table__.c)

    def shown(row: Any) -> dict[str, Any]:
        return {
            "type": "requests",
            "id": str(row.id),
            "attributes": {
                "request_id": row.request_id,
                "requested_by": row.requested_by,
                "status": row.status.value,
                "note_id": row.note_id,
                "community_server_id": str(row.community_id),
                "requested_at": clock.iso(row.requested_at),
                "created_at": clock.iso(row.created_at),
                "updated_at": clock.iso(row.updated_at),
                "content": row.content,
                "platform_message_id": row.platform_message_id,
            },
        }

    @app.post("/requests")
    def create() -> Any:
        given = json.loads(flask.request.get_data())["data"]["attributes"]
        with database.writing() as session:
            row = Request(
                id=new_id(),
                community_id=uuid.UUID(given["community_server_id"]),
                request_id=given["request_id"],
                requested_by=given["requested_by"],
                content=given["original_message_content"],
                content_sha256="0" * 64,
            )
            session.add(row)
            write_job(session, str(new_id()))
        return {"data": {"type": "requests", "id": str(row.id)}}, 201

    @app.post("/ratings")
    def rate() -> Any:
        given = json.loads(flask.request.get_data())["data"]["attributes"]
        note_id, name = uuid.UUID(given["note_id"]), given["rater_id"]
        with database.writing() as session:
            rater = session.scalars(sa.select(Profile).where(Profile.platform_user_id == name)).first()
            if rater is None:
                rater = Profile(id=new_id(), platform="floor", platform_user_id=name)
                session.add(rater)
                session.flush()
            note = session.get_one(Note, note_id)
            note.ratings_count += 1
            sums = session.get(NoteSums, (note.community_id, 0, note_id))
            if sums is None:
                sums = NoteSums(community_id=note.community_id, version=0, note_id=note_id)
                sums.note_version, sums.rating_changes = 1, 0
                session.add(sums)
            sums.sums = [float(note.ratings_count)] * 24
            row = Rating(
                id=new_id(),
                community_id=note.community_id,
                note_id=note_id,
                rater_id=rater.id,
                rater_ref=name,
                helpfulness_level=HelpfulnessLevel(given["helpfulness_level"]),
                note_version=1,
                reasons=[],
            )
            session.add(row)
            session.flush()
            last = sa.select(sa.func.max(HistoryEntry.number)).where(
                HistoryEntry.community_id == note.community_id
            )
            entry = HistoryEntry(
                id=new_id(),
                community_id=note.community_id,
                number=(session.scalar(last) or 0) + 1,
                at=clock.now(),
                actor_kind="floor",
                what="rating.given",
                object_type="rating",
                object_id=row.id,
                before={},
                after={"note_id": given["note_id"]},
                cause="",
                text_hash="0" * 64,
                previous_hash="0" * 64,
                hash="0" * 64,
            )
            session.add(entry)
            session.flush()
            session.add(HistoryText(entry_id=entry.id, salt="", actor_name="", reason="", comment=""))
        return {"data": {"type": "ratings", "id": str(row.id)}}, 201

    @app.get("/requests")
    def several() -> Any:
        with database.reading() as session:
            count = session.scalar(sa.select(sa.func.count()).select_from(Request))
            rows = session.execute(
                sa.select(*columns).order_by(Request.requested_at.desc(), Request.id.desc()).limit(100)
            )
            return {"data": [shown(row) for row in rows], "meta": {"count": count}}

    @app.get("/requests/<uuid:identity>")
    def one(identity: uuid.UUID) -> Any:
        with database.reading() as session:
            return {"data": shown(session.execute(sa.select(*columns).where(Request.id == identity)).one())}

    return app.wsgi_app


if __name__ == "__main__":
    port, path = int(sys.argv[1]), sys.argv[2]
    serve(
        host="127.0.0.1",
        port=port,
        processes=2,
        threads=4,
        load_app=lambda _slot: make(f"sqlite:///{path}"),
        stop_app=lambda: None,
    )
