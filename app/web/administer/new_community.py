"""Opens a new community for the signed-in account."""

from flask import Response, url_for
from wtforms import BooleanField, Form, StringField, TextAreaField
from wtforms.validators import InputRequired

from app.core import limits
from app.core.communities import founding
from app.core.communities.founding import Founding
from app.core.errors import Forbidden, Invalid
from app.core.people.profiles import WEB
from app.throttle import OverLimit
from app.web import auth, forms, navigation, page
from app.web.blueprint import web
from app.wiring import wired

FIELDS = {"platform_community_server_id": "platform_id"}


class FoundingForm(Form):
    """A new community."""

    name = StringField("Name", [InputRequired("Enter a name."), forms.at_most(limits.NAME_MAX, "Name")])
    description = TextAreaField(
        "Description",
        [forms.at_most(limits.DESCRIPTION_MAX, "Description")],
        filters=[forms.whole_lines],
    )
    is_public = BooleanField("Public")
    platform = StringField("Platform", [InputRequired("Enter a platform.")], default=WEB)
    platform_id = StringField("Id on the platform", [forms.at_most(limits.ID_MAX, "Id on the platform")])

    def founding(self) -> Founding:
        """Return the typed values; empty texts are None."""
        return Founding(
            name=self.name.data or "",
            platform=self.platform.data or WEB,
            platform_id=self.platform_id.data or None,
            description=self.description.data or None,
            is_public=bool(self.is_public.data),
        )


@web.get("/community/new")
def new_community() -> Response:
    return _show(FoundingForm())


@web.post("/community/new")
def found_community() -> Response:
    form = forms.posted(FoundingForm)
    if not form.validate():
        return _show(form, status=422)
    actor, settings = auth.current_actor(), wired().settings
    try:
        wired().throttle.hit("communities", str(actor.account_id))
        with wired().database.writing() as session:
            founded = founding.found_community(
                session, actor, form.founding(), open_to_all=settings.open_communities
            )
    except Invalid as refusal:
        forms.explain(form, refusal, FIELDS)
        return _show(form, status=422)
    except OverLimit as refusal:
        alert = f"You opened several communities just now. Try again in {refusal.retry_after} seconds."
        return _show(form, status=429, alert=alert)
    message = f"{founded.name} is open, and you are its admin."
    return page.done(None, url_for("web.getting_started_page", community=founded.slug), message)


def _show(form: FoundingForm, *, status: int = 200, alert: str | None = None) -> Response:
    if not navigation.may_create_community():
        raise Forbidden("Only a service admin opens communities here")
    return page.render("administer/new_community.html", status=status, alert=alert, form=form)
