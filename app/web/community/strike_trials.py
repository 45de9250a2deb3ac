"""The what-if about strikes on the Community page: what the typed steps would have done in the past year."""

from flask import Response

from app.core import texts
from app.core.actions import strike_trials
from app.core.actions.strike_trials import Trial
from app.core.communities.declarations import Section
from app.core.communities.settings import SETTINGS
from app.core.permissions import Permission
from app.core.texts import gettext as _
from app.core.texts import ngettext
from app.core.vocabulary import StrikeStep
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.community import community
from app.wiring import wired

PART = "community/_strike_trial.html"


@web.post("/community/strikes/try")
@auth.needs(Permission.REVISE_POLICY)
def try_strikes() -> Response:
    """Say what the typed steps would have done. Nothing is saved."""
    form = forms.posted(community.form_class(Section.STRIKES))
    steps: dict[StrikeStep, int] = {}
    for step in StrikeStep:
        setting = SETTINGS[f"strikes_{step.value}"]
        value = community.read_typed(setting, form[setting.name].data)
        fault = setting.fault(value)
        if fault is not None:
            return _answer(form, f"{setting.label} {fault}.", failed=True)
        if isinstance(value, int):
            steps[step] = value
    with wired().database.reading() as session:
        trial = strike_trials.past_year(session, auth.current_actor(), auth.current_community().id, steps)
    return _answer(form, in_words(trial))


def in_words(trial: Trial) -> str:
    """Say it in sentences: "would have silenced 4 people. 1 of them was overturned later."."""
    if not trial.silenced and not trial.warned:
        return _("In the past year these steps would have warned and silenced nobody.")
    silenced, overturned = trial.silenced, trial.overturned
    said = [
        ngettext(
            "In the past year these steps would have silenced %(num)s person.",
            "In the past year these steps would have silenced %(num)s people.",
            silenced,
        )
    ]
    if overturned:
        said.append(
            ngettext(
                "%(num)s of them was overturned later.", "%(num)s of them were overturned later.", overturned
            )
        )
    if trial.warned:
        said.append(
            ngettext(
                "They would have warned %(num)s more person.",
                "They would have warned %(num)s more people.",
                trial.warned,
            )
        )
    if trial.is_cut:
        most = texts.number(strike_trials.MOST)
        said.append(_("Only the newest %(most)s actions were read.", most=most))
    return " ".join(said)


def _answer(form: community.CommunityForm, sentence: str, *, failed: bool = False) -> Response:
    status = 422 if failed else 200
    if page.wants_part():
        return page.render(PART, PART, status=status, trial=sentence, trial_failed=failed)
    return community.show(Section.STRIKES, form, status=status, trial=sentence, trial_failed=failed)
