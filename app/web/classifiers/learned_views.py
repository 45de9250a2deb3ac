"""The community's own model on pages: its state in words, its figures, its versions, its chart."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy.orm import Session
from wtforms import BooleanField, Form, HiddenField, SelectField

from app.core import texts
from app.core.errors import NotFound
from app.core.learning import versions
from app.core.learning.standing import CategoryStanding, Standing, State, read_standing
from app.core.learning.training import LEAST_LABELS, LEAST_OF_A_KIND, LEAST_ORDINARY, Outcome
from app.core.models import LearnedModel
from app.core.permissions import Actor
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext, number
from app.web import charts, forms
from app.web.categories import category_name
from app.web.charts import Chart, Series
from app.web.filters import percent

_OUTCOMES: Mapping[Outcome, str] = {
    Outcome.FEW_LABELS: lazy_gettext("Too few labels"),
    Outcome.ONE_SIDED: lazy_gettext("Too few labels of one kind"),
    Outcome.NOT_BETTER: lazy_gettext("Finds no more than the others"),
    Outcome.LESS_RELIABLE: lazy_gettext("Its scores are less reliable than the others’"),
    Outcome.BETTER: lazy_gettext("Better than the others"),
}


SHARES: Mapping[str, str] = {
    "0": lazy_gettext("None"),
    "0.1": lazy_gettext("0.1 %% of the posts below every threshold"),
    "0.5": lazy_gettext("0.5 %% of the posts below every threshold"),
    "1": lazy_gettext("1 %% of the posts below every threshold"),
    "2": lazy_gettext("2 %% of the posts below every threshold"),
    "5": lazy_gettext("5 %% of the posts below every threshold"),
}
"""How many posts are sampled, in percent as the form posts them."""


class LearningForm(Form):
    """Whether the community's model learns, and who puts its versions in force."""

    is_on = BooleanField(lazy_gettext("Learn from this community’s decisions"))
    asks_first = BooleanField(lazy_gettext("Ask before a new version scores"))
    samples = SelectField(
        lazy_gettext("Other posts that raters are asked about"), choices=forms.choices(SHARES), default="0"
    )
    reason = forms.reason_field(lazy_gettext("Reason for the change"), id="learning-reason")


class PutForm(Form):
    """Why a version is put in force. ``version`` is the one in force that the page showed."""

    reason = forms.reason_field()
    version = HiddenField()


def section(
    session: Session, actor: Actor, community_id: uuid.UUID, form: LearningForm | None = None
) -> dict[str, Any]:
    """Return what the classifiers page shows of it, with a posted form that has errors, if any."""
    standing = read_standing(session, actor, community_id)
    return {
        "form": form or _form(standing),
        "is_on": standing.is_on,
        "rows": [
            {
                "category": now.category,
                "title": category_name(now.category),
                "state": state_words(now),
                "since": now.since,
                "decisions": now.decisions,
                "precision": _pair(now.figures, "precision"),
                "brier": _pair(now.figures, "brier"),
            }
            for now in standing.categories
        ],
        "samples": _sampled(standing),
        "warning": _warning([now for now in standing.categories if now.figures]),
    }


def page_of(session: Session, actor: Actor, community_id: uuid.UUID, category: str) -> dict[str, Any]:
    """Return what the page of one category shows: figures and words of the version in force, else of the newest.

    Raises:
        NotFound: nothing was decided in this category yet.
    """
    standing = read_standing(session, actor, community_id)
    now = next((item for item in standing.categories if item.category == category), None)
    if now is None:
        raise NotFound("category")
    found = versions.versions(session, actor, community_id, category)
    chosen = next((item for item in found if item.version == (now.version or now.waiting)), None)
    shown = chosen or next(iter(found), None)
    figures = shown.figures if shown is not None else None
    chart, says = _chart(figures)
    return {
        "category": category,
        "title": category_name(category),
        "now": now,
        "state": state_words(now),
        "counts": _counts(now),
        "shown": shown.version if shown is not None else 0,
        "figures": figures,
        "precision": _pair(figures, "precision"),
        "brier": _pair(figures, "brier"),
        "raising": _words(shown, "raising"),
        "lowering": _words(shown, "lowering"),
        "chart": chart,
        "chart_says": says,
        "more": _more(figures),
        "warning": _warning([replace(now, figures=figures)] if figures else []),
        "versions": [_version_row(item, now) for item in found[: versions.SHOWN_VERSIONS]],
    }


def state_words(now: CategoryStanding) -> str:
    """Return the state as a few words; "since when" is shown beside them."""
    if now.state is State.LEARNING:
        if now.labels < LEAST_LABELS:
            return _(
                "Learning: %(labels)s of %(needed)s labels",
                labels=number(now.labels),
                needed=LEAST_LABELS,
            )
        return _("Learning: %(missing)s", missing=_kinds(now))
    return {
        State.OFF: _("Off"),
        State.SHADOW: _("Shadow: not better yet"),
        State.WAITING: _("Version %(version)s waits for you", version=now.waiting),
        State.IN_FORCE: _("Version %(version)s in force", version=now.version),
    }[now.state]


def _kinds(now: CategoryStanding) -> str:
    """Return what is missing although there are enough labels."""
    if now.positives < LEAST_OF_A_KIND:
        return _(
            "%(posts)s of %(needed)s posts acted on",
            posts=now.positives,
            needed=LEAST_OF_A_KIND,
        )
    if now.negatives < LEAST_OF_A_KIND:
        return _(
            "%(posts)s of %(needed)s posts left alone",
            posts=now.negatives,
            needed=LEAST_OF_A_KIND,
        )
    return _("the newest decisions are all alike")


def _counts(now: CategoryStanding) -> str:
    """Return the labels in words, and how many decisions are none."""
    words = _(
        "%(labels)s labels: %(positives)s posts acted on, %(negatives)s left alone.",
        labels=number(now.labels),
        positives=number(now.positives),
        negatives=number(now.negatives),
    )
    if now.left_out:
        left_out = ngettext(
            "%(num)s more decision is left out: many by one author, many nearly the same, or a lone rating.",
            "%(num)s more decisions are left out: many by one author, many nearly the same, or a lone rating.",
            now.left_out,
        )
        words = f"{words} {left_out}"
    return words


def _form(standing: Standing) -> LearningForm:
    asks = standing.asks_first or any(now.asks_first for now in standing.categories)
    share = f"{standing.sample_share * 100:g}"
    return LearningForm(data={"is_on": standing.is_on, "asks_first": asks, "samples": share})


def _sampled(standing: Standing) -> str:
    """Return in a sentence how far the samples are; empty if there never were any."""
    found = standing.samples
    if not standing.sample_share and not found.total:
        return ""
    if standing.sample_share:
        share = _("%(number)s %%", number=texts.short_number(standing.sample_share * 100))
        begin = _("Of the posts below every threshold, raters are asked about %(share)s.", share=share)
    else:
        begin = _("Raters are asked about no post below every threshold.")
    so_far = (
        _(
            "%(total)s so far, %(waiting)s still open, %(labelled)s with an agreement that counts as a decision.",
            total=number(found.total),
            waiting=number(found.waiting),
            labelled=number(found.labelled),
        )
        if found.total
        else _("No post yet.")
    )
    return f"{begin} {so_far}"


def _pair(figures: Mapping[str, Any] | None, name: str) -> str:
    """Return the figure of the others and of the own model: "0.61 → 0.84"."""
    if not figures:
        return ""
    return f"{texts.number(figures[f'base_{name}'], 2)} → {texts.number(figures[f'own_{name}'], 2)}"


def _more(figures: Mapping[str, Any] | None) -> str:
    """Return how many more posts a day a version asks people about; empty where that is not known."""
    more = figures.get("more_a_day") if figures else None
    if more is None:
        return ""
    if more == 0:
        return _("It would ask people about no more posts a day than the other classifiers alone.")
    if more < 1:
        return _("It would ask people about less than one more post a day than the other classifiers alone.")
    return ngettext(
        "It would ask people about %(num)s more post a day than the other classifiers alone.",
        "It would ask people about %(num)s more posts a day than the other classifiers alone.",
        round(more),
    )


def _warning(trained: Sequence[CategoryStanding]) -> str:
    """Return a warning if a version was checked with few ordinary posts; empty if none was."""
    # Versions from before this was counted do not say.
    few = [now.category for now in trained if _ordinary(now) < LEAST_ORDINARY]
    if not few:
        return ""
    names = ", ".join(category_name(category) for category in few)
    return _(
        "%(categories)s: fewer than %(needed)s posts are known here that nobody acted on, so the "
        "model was checked with sentences that the service brings. It may ask about more posts than "
        "it should.",
        categories=names,
        needed=LEAST_ORDINARY,
    )


def _ordinary(now: CategoryStanding) -> int:
    return int((now.figures or {}).get("ordinary", LEAST_ORDINARY))


def _words(model: LearnedModel | None, side: str) -> list[str]:
    return [word["text"] for word in (model.words if model is not None else {}).get(side, ())]


def _chart(figures: Mapping[str, Any] | None) -> tuple[Chart | None, str]:
    """Return the reliability chart and what it shows as a sentence."""
    bins = figures["bins"] if figures else []
    if not any(part["count"] for part in bins):
        return None, ""
    predicted = [part["predicted"] * 100 if part["count"] else None for part in bins]
    observed = [part["observed"] * 100 if part["count"] else None for part in bins]
    names = [
        _(
            "%(low)s to %(high)s",
            low=texts.number(part["start"], 1),
            high=texts.number(part["start"] + 0.1, 1),
        )
        for part in bins
    ]
    made = charts.lines(
        names,
        [Series(_("Predicted"), predicted, 0), Series(_("Acted on"), observed, 1)],
        100,
        "{:.0f}%".format,
    )
    parts = [
        _(
            "Of %(posts)s posts scored %(score)s, %(share)s were acted on",
            posts=part["count"],
            score=name,
            share=percent(part["observed"]),
        )
        for part, name in zip(bins, names, strict=True)
        if part["count"]
    ]
    return made, f"{'; '.join(parts)}."


def _version_row(model: LearnedModel, now: CategoryStanding) -> dict[str, Any]:
    """``act`` names the button that puts it in force; empty where that is impossible."""
    can_score = versions.is_usable(model) and model.outcome == Outcome.BETTER
    is_current = model.version == now.version
    act = ""
    if can_score and not is_current:
        act = (
            _("Go back to version %(version)s", version=model.version)
            if model.version < now.version
            else _("Put in force version %(version)s", version=model.version)
        )
    return {
        "number": model.version,
        "made_at": model.created_at,
        "labels": number(model.labels),
        "precision": _pair(model.figures, "precision"),
        "brier": _pair(model.figures, "brier"),
        "state": _("Content erased since")
        if model.erased_at is not None
        else str(_OUTCOMES[Outcome(model.outcome)]),
        "is_current": is_current,
        "act": act,
        "can_try": versions.is_usable(model) and not is_current,
    }
