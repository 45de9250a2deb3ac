"""What is kept of the reader: they ask for a file, the page follows it while it is made, and they fetch it."""

import sys
import uuid
from collections.abc import Iterator
from typing import Any

from flask import Response, url_for

from app.core.db import Database
from app.core.errors import NotFound, TooMany
from app.core.factcheck.reading import unpacked
from app.core.models import OwnDataFile
from app.core.people import own_data_files
from app.core.permissions import Actor
from app.core.texts import gettext as _
from app.web import auth, page
from app.web.account.sign_up import too_many_page
from app.web.blueprint import web
from app.wiring import wired


@web.get("/settings/my-data")
def my_data() -> Response:
    return page.render("account/my_data.html", **_shown(_current()))


@web.get("/settings/my-data/progress")
@auth.passive
def my_data_progress() -> Response:
    """Return the part of the page for polling, and say how it ended; 204 while the file is being made."""
    found = _current()
    if found is not None and own_data_files.is_being_made(found):
        return Response(status=204)
    is_ready = found is not None and found.made_at is not None
    message = _("Your file is ready.") if is_ready else _("The file could not be made.")
    return page.done("account/_my_data.html", url_for("web.my_data"), message, **_shown(found))


@web.post("/settings/my-data")
@auth.asks_again()
def make_my_data() -> Response:
    try:
        # Each file brings a mail.
        wired().throttle.hit("mail", auth.current_reader().account.sign_in_name)
        with wired().database.writing() as session:
            own_data_files.ask(session, auth.current_actor())
    except TooMany as refusal:
        return too_many_page(refusal, _("Too many files were asked for."))
    return page.done(None, url_for("web.my_data"), _("Your file is being made."))


@web.get("/settings/my-data.json")
@auth.asks_again()
def my_data_file() -> Response:
    found = _current()
    if found is None or found.made_at is None:
        raise NotFound("file")
    pieces = unpacked(_content(wired().database, auth.current_actor(), found.id), most=sys.maxsize)
    response = Response(pieces, mimetype="application/json")
    response.headers["Content-Disposition"] = (
        f'attachment; filename="bridgenote-{found.made_at:%Y-%m-%d}.json"'
    )
    return response


def _content(database: Database, actor: Actor, file_id: uuid.UUID) -> Iterator[bytes]:
    """The file as it is stored. It breaks off if the person is erased or disabled meanwhile."""
    start = 0
    while True:
        with database.reading() as session:
            piece = own_data_files.content(session, actor, file_id, start)
        if not piece:
            return
        yield piece
        start += len(piece)


def _current() -> OwnDataFile | None:
    with wired().database.reading() as session:
        return own_data_files.current(session, auth.current_actor())


def _shown(found: OwnDataFile | None) -> dict[str, Any]:
    made_at = found.made_at if found is not None else None
    return {
        "found": found,
        "is_being_made": found is not None and own_data_files.is_being_made(found),
        "by_mail": wired().settings.smtp_host and auth.current_reader().account.confirmed_at,
        "gone_at": made_at + own_data_files.KEPT if made_at is not None else None,
    }
