"""Home of moderators: mine, unclaimed, overdue, overturned, and notices."""

from dataclasses import dataclass

from flask import Response, url_for

from app.core.permissions import Permission
from app.core.review import desk as desk_figures
from app.web import auth, community_choice, page
from app.web.blueprint import web
from app.web.filter_forms import encoded
from app.web.moderate import bell, open_counts, queue_rows
from app.web.moderate.row_lists import QUEUE
from app.wiring import wired


@dataclass(frozen=True)
class Tile:
    """One count of the desk, and the list behind it."""

    label: str
    count: str
    url: str


@web.get("/desk")
@auth.needs(Permission.SEE_QUEUE)
def desk() -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        figures = desk_figures.desk(session, actor, community.id)
        mine = queue_rows.rows(session, figures.my_items, actor)
        overdue = queue_rows.rows(session, figures.overdue_items, actor)
    return page.render(
        "moderate/desk.html",
        tiles=[
            Tile("Mine", open_counts.in_words(figures.mine) or "0", _queue_url(claimed_by="me")),
            Tile(
                "Unclaimed", open_counts.in_words(figures.unclaimed) or "0", _queue_url(claimed_by="nobody")
            ),
            Tile("Overdue", open_counts.in_words(figures.overdue) or "0", _queue_url(overdue="1")),
            Tile("Overturned", str(figures.overturned), url_for("web.notices_page")),
        ],
        lists=[("Mine", mine), ("Overdue", overdue)],
        unread=bell.unread(),
        overturned_days=desk_figures.OVERTURNED_DAYS,
        **QUEUE.context(),
    )


def _queue_url(**filters: str) -> str:
    return f"{url_for('web.review')}?{encoded({**community_choice.carried(), **filters})}"
