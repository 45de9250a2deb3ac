"""Replay a range of deliveries: choose it, see how many there are, confirm, follow the progress."""

import uuid
from typing import Any

from flask import Response, url_for
from wtforms import SelectField

from app.core import texts
from app.core.errors import Conflict, Invalid
from app.core.models import Replay
from app.core.permissions import Permission
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.vocabulary import DeliveryState
from app.core.webhooks import catalogue, replays
from app.core.webhooks import registrations as webhooks
from app.core.webhooks.deliveries import MOST_MATCHING, Filters
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.webhooks.deliveries import RangeForm
from app.web.webhooks.endpoints import place_of
from app.wiring import wired

ALL = "all"
WHICH = {
    DeliveryState.DEAD.value: lazy_gettext("Those that failed"),
    DeliveryState.PARKED.value: lazy_gettext("Those parked after a restore"),
    DeliveryState.DELIVERED.value: lazy_gettext("Those delivered"),
    ALL: lazy_gettext("All of these"),
}


class ReplayForm(RangeForm):
    """A range of deliveries to replay."""

    which = SelectField(lazy_gettext("Which"), choices=forms.choices(WHICH), default=DeliveryState.DEAD.value)

    @property
    def range(self) -> Filters:
        return self.filters(*(() if self.which.data == ALL else (DeliveryState(self.which.data),)))


@web.get("/deliveries/replay")
@auth.needs(Permission.MANAGE_WEBHOOKS)
def replay_range() -> Response:
    """Show the range in the URL and the number of its deliveries."""
    form = forms.queried(ReplayForm)
    return _show(form, status=200 if form.validate() else 422)


@web.post("/deliveries/replay")
@auth.needs(Permission.MANAGE_WEBHOOKS)
def begin_replay() -> Response:
    form = forms.posted(ReplayForm)
    if not form.validate():
        return _show(form, status=422)
    try:
        with wired().database.writing() as session:
            replay = replays.begin(
                session,
                auth.current_actor(),
                auth.current_community().id,
                form.range,
            )
    except Conflict as refusal:
        return _show(form, status=409, alert=f"{refusal.detail}.")
    except Invalid:
        # All days of the range are in the future.
        return _show(form, status=422, alert=_("Nothing was put into the queue in these days yet."))
    url = url_for("web.replay_progress", replay_id=replay.id)
    return page.done(None, url, _("%(total)s are sent again.", total=_deliveries(replay.total)))


@web.get("/deliveries/replays/<uuid:replay_id>")
def replay_progress(replay_id: uuid.UUID) -> Response:
    return page.render("webhooks/replay.html", **_followed(replay_id))


@web.get("/deliveries/replays/<uuid:replay_id>/progress")
@auth.passive
def replay_step(replay_id: uuid.UUID) -> Response:
    """Return the part with the progress for polling; 204 if nothing changed."""
    context = _followed(replay_id)
    if forms.query_arg("seen") == context["etag"]:
        return Response(status=204)
    if context["replay"].finished_at is None:
        return page.render("webhooks/replay.html", "webhooks/_replay.html", **context)
    return page.done(
        "webhooks/_replay.html",
        url_for("web.replay_progress", replay_id=replay_id),
        context["words"],
        **context,
    )


def _followed(replay_id: uuid.UUID) -> dict[str, Any]:
    actor = auth.current_actor()
    with wired().database.reading() as session:
        replay = replays.get(session, actor, replay_id)
        auth.enter(replay.community_id)
        rows = {str(row.id): place_of(row) for row in webhooks.visible(session, actor, replay.community_id)}
    filters = replays.read(replay.filters)
    return {
        "replay": replay,
        "wanted": filters,
        "which": ", ".join(str(WHICH[state]) for state in filters.states or (ALL,)),
        "place": rows.get(str(filters.webhook_id), _("A removed webhook"))
        if filters.webhook_id
        else _("All webhooks"),
        "event_word": catalogue.EVENTS[filters.event].label if filters.event else _("All events"),
        "words": _words(replay),
        "etag": f"{replay.sent}-{replay.finished_at is not None}",
    }


def _words(replay: Replay) -> str:
    if replay.stopped:
        return _(
            "Stopped after %(sent)s of %(total)s. %(stopped)s.",
            sent=texts.number(replay.sent),
            total=texts.number(replay.total),
            stopped=texts.stored(replay.stopped),
        )
    if replay.finished_at is None:
        return _(
            "%(sent)s of %(total)s are in the queue again.",
            sent=texts.number(replay.sent),
            total=texts.number(replay.total),
        )
    remaining = replay.total - replay.sent
    if remaining > 0:
        return _(
            "%(sent)s are in the queue again. %(remaining)s were left out: they were on their way"
            " already, or their webhook was disabled.",
            sent=_deliveries(replay.sent),
            remaining=texts.number(remaining),
        )
    return _("All %(sent)s are in the queue again.", sent=_deliveries(replay.sent))


def _deliveries(count: int) -> str:
    return ngettext("%(num)s delivery", "%(num)s deliveries", count)


def _counted(count: int) -> str:
    """Return a count of the preview as text."""
    return (
        _("More than %(most)s", most=texts.number(MOST_MATCHING))
        if count > MOST_MATCHING
        else texts.number(count)
    )


def _show(form: ReplayForm, *, status: int, alert: str | None = None) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        form.offer(webhooks.visible(session, actor, community.id))
        preview = (
            None if form.errors else replays.preview(session, actor, community.id, form.range, MOST_MATCHING)
        )
    count = 0 if preview is None else preview.total
    return page.render(
        "webhooks/replay_range.html",
        status=status,
        alert=alert,
        form=form,
        found=preview,
        count=count,
        counted=_counted,
        in_background=count > replays.BATCH,
    )
