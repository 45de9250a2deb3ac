"""The form about a rater's run: languages, categories not to be asked about, breaks."""

from sqlalchemy.orm import Session
from wtforms import Form, StringField, ValidationError

from app.core import limits
from app.core.models import Account
from app.core.permissions import Permission
from app.core.policies import policies
from app.web import auth, forms
from app.web.categories import category_name
from app.web.filter_forms import SeveralField
from app.web.item.note_forms import MultiCheckboxField
from app.web.languages import NAMES


class LanguagesField(SeveralField):
    """Languages of which none ticked means those of the browser."""

    @property
    def in_words(self) -> str:
        return super().in_words if self.data else "As my browser asks"


class RunForm(Form):
    """What the reader is asked in their run. No language means those of the browser."""

    languages = LanguagesField("Languages I read", choices=forms.choices(NAMES))
    avoided = MultiCheckboxField("Posts I prefer not to see", validate_choice=False)
    break_after_severe = StringField("Severe posts before a break")

    def validate_break_after_severe(self, field: StringField) -> None:
        """Check the number. Empty means the usual one."""
        text = (field.data or "").strip()
        number = forms.number(text)
        if text and (number is None or number > limits.BREAK_AFTER_SEVERE_MAX):
            raise ValidationError(
                f"Severe posts before a break must be a whole number from 0 to {limits.BREAK_AFTER_SEVERE_MAX}."
            )


def run_form(session: Session, account: Account) -> RunForm:
    """Return the form with the account's preferences."""
    number = account.break_after_severe
    form = RunForm(
        languages=account.languages,
        avoided=account.avoided_categories,
        break_after_severe="" if number is None else str(number),
    )
    offer(session, form)
    return form


def offer(session: Session, form: RunForm) -> set[str]:
    """Offer the categories of the reader's community, the sensitive ones, and what was chosen before; return them."""
    names = {*policies.SENSITIVE, *auth.current_reader().account.avoided_categories}
    community = auth.community_or_none()
    if community is not None and auth.may(Permission.RATE, community.id):
        current = policies.current(session, community.id)
        names |= {category.name for category in current.categories if category.enabled}
    words = {name: category_name(name) for name in names}
    form.avoided.choices = forms.choices(dict(sorted(words.items(), key=lambda pair: pair[1])))
    return names
