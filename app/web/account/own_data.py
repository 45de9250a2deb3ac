"""What is kept of the reader: a page with how much of each kind, and all of it as JSON."""

import json

from flask import Response

from app.core import clock
from app.core.upkeep import own_data
from app.web import auth, page
from app.web.blueprint import web
from app.wiring import wired

_ABOUT = "exported_at"


@web.get("/settings/my-data")
def my_data() -> Response:
    with wired().database.reading() as session:
        kept = own_data.collect(session, auth.current_actor())
    counts = [
        (name.replace("_", " ").capitalize(), len(rows)) for name, rows in kept.items() if name != _ABOUT
    ]
    return page.render("account/my_data.html", counts=counts)


@web.get("/settings/my-data.json")
def my_data_file() -> Response:
    with wired().database.reading() as session:
        kept = own_data.collect(session, auth.current_actor())
    body = json.dumps(kept, ensure_ascii=False, indent=2)
    response = Response(body, mimetype="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="bridgenote-{clock.now():%Y-%m-%d}.json"'
    return response
