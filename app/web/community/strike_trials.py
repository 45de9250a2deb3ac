"""The what-if about strikes on the Community page: what the typed steps would have done in the past year."""

from flask import Response

from app.core.actions import strike_trials
from app.core.actions.strike_trials import Trial
from app.core.communities.declarations import Section
from app.core.communities.settings import SETTINGS
from app.core.permissions import Permission
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
    """Say it as a sentence: "would have silenced 4 people; 1 of them was overturned later"."""
    if not trial.silenced and not trial.warned:
        return "In the past year these steps would have warned and silenced nobody."
    said = f"In the past year these steps would have silenced {_people(trial.silenced)}"
    if trial.overturned:
        said += f"; {trial.overturned} of them {'was' if trial.overturned == 1 else 'were'} overturned later"
    said += f", and warned {_people(trial.warned)} more." if trial.warned else "."
    return f"{said} Only the newest {strike_trials.MOST:,} actions were read." if trial.is_cut else said


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people" if count else "nobody"


def _answer(form: community.CommunityForm, sentence: str, *, failed: bool = False) -> Response:
    status = 422 if failed else 200
    if page.wants_part():
        return page.render(PART, PART, status=status, trial=sentence, trial_failed=failed)
    return community.show(Section.STRIKES, form, status=status, trial=sentence, trial_failed=failed)
