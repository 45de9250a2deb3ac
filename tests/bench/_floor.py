"""The floor: the barest views over the same rows under the same server. No auth, no rules, no history.

Started by ``api``; the first argument is the port, the second the SQLite file of a stopped service.
"""

import json
import sys
import uuid
from typing import Any

import flask
import sqlalchemy as sa

from app.core import clock
from app.core.db import Database
from app.core.ids import new_id
from app.core.models import Request
from app.serve import serve
from app.waitress_worker import WSGIApp


def make(url: str) -> WSGIApp:
    database, app = Database(url), flask.Flask("floor")
    columns = (Request.id, Request.request_id, Request.status, Request.content, Request.requested_at)

    def shown(row: Any) -> dict[str, Any]:
        return {
            "type": "requests",
            "id": str(row.id),
            "attributes": {
                "request_id": row.request_id,
                "status": row.status.value,
                "content": row.content,
                "requested_at": clock.iso(row.requested_at),
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
        return {"data": {"type": "requests", "id": str(row.id)}}, 201

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
