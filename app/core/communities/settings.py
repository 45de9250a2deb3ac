"""What operators set of a community, each declared once: forms, checks, history and docs/run/settings.md read it.

``COLUMNS`` are columns of ``communities``. The other settings are the fields of ``CommunitySettings``: adding one there
is all that it needs. Their values are in ``communities.settings``, which only operators write; values that
integrations send are stored in ``communities.supplied``. A missing or invalid value falls back to the service-wide
default. ``wiring.wire`` sets the defaults in ``Database.info`` at start-up, and every session has them in
``Session.info``.
"""

import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from app.core import limits, texts
from app.core.communities import cited_pages
from app.core.communities.declarations import Section, Setting, declare, declared
from app.core.models import Community
from app.core.texts import Language, LazyText, lazy_gettext
from app.core.vocabulary import Role, StrikesAct, WhoDecides

NO_ROLE = "none"
"""The value of ``factor_role`` where a second factor is asked of no one."""

SUPPORT_TEXT = lazy_gettext(
    "Thank you for writing this. You do not have to be alone with it. If you may be in danger, please call your local "
    "emergency number now. In many countries people listen day and night: 988 in the USA and Canada, 116 123 in "
    "much of Europe, 13 11 14 in Australia; findahelpline.com lists others."
)
"""The shipped answer to a post about self-harm."""


COLUMNS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(name="name", label=lazy_gettext("Name"), least=1, most=limits.NAME_MAX),
        Setting(
            name="description",
            label=lazy_gettext("Description"),
            most=limits.DESCRIPTION_MAX,
            rows=3,
            optional=True,
        ),
        Setting(
            name="policy_text",
            label=lazy_gettext("Policy text"),
            hint=lazy_gettext("What is allowed here and what is not. Raters judge by it."),
            most=limits.POLICY_TEXT_MAX,
            rows=10,
            optional=True,
        ),
        Setting(
            name="is_public",
            label=lazy_gettext("Public"),
            hint=lazy_gettext("Anybody with an account may find this community and join as a rater."),
        ),
        Setting(
            name="ai_notes_enabled",
            label=lazy_gettext("AI notes"),
            section=Section.AI_NOTES,
            hint=lazy_gettext(
                "Integrations may ask for notes drafted by AI. People rate them like any other note before they are "
                "shown."
            ),
        ),
    )
}
"""The settings that are columns of ``communities``, in the order of the page; a text that is empty is None there."""


def _step(points: int, label: str) -> Any:
    return declare(
        points,
        Section.STRIKES,
        label,
        lazy_gettext("Points of an author. Empty: no such step."),
        bounds=(1, 1_000),
        optional=True,
    )


@dataclass(frozen=True)
class CommunitySettings:
    """One community's settings, in the order of the page.

    ``helpful_at``: 0.40 is a predicted helpfulness of 0.75, and 0.65 one of 1, which no note can exceed. With
    ``stabilisation_minutes`` 0 a helpful note is published at once, so a review is decided within the request of its
    last rater. The algorithm: docs/develop/consensus.md. Panels: docs/moderate/panels.md.

    A burst sends the decision to moderators. It is a burst if more than ``burst_share`` (0.0–1.0; 1.0: never) of an
    item's ratings of the last ``burst_minutes`` are by raters first seen within the last ``burst_hours``, and there are
    at least ``burst_raters`` of them. Where fewer than ``burst_known`` raters were first seen earlier, nothing is one.
    """

    language: str = declare(
        texts.SOURCE,
        Section.BASICS,
        lazy_gettext("Language"),
        lazy_gettext(
            "Of the dashboard and of mails, for people who chose none and whose browser asks for none that there is. "
            "And of what Bridgenote itself writes into the history from now on."
        ),
        choices=texts.NAMES,
    )
    note_pages: str = declare(
        "",
        Section.AI_NOTES,
        lazy_gettext("Pages that notes by AI may cite"),
        lazy_gettext(
            "One a line: an address that begins with https://, a space, and what the page says. A model may "
            "rely on them beside fact-checks."
        ),
        most=cited_pages.TEXT_MAX,
        rows=3,
        parse=cited_pages.parse,
    )
    min_ratings: int = declare(
        5,
        Section.NOTES,
        lazy_gettext("Minimum ratings"),
        lazy_gettext("Ratings that a note needs before it gets a status."),
        bounds=(1, 1_000),
        rescores=True,
    )
    min_trust_level: int | None = declare(
        None,
        Section.NOTES,
        lazy_gettext("Minimum trust"),
        lazy_gettext("Only raters with this trust level or more count. Empty: everybody counts."),
        bounds=(0, limits.TRUST_LEVEL_MAX),
        optional=True,
        rescores=True,
    )
    min_age_days: int | None = declare(
        None,
        Section.NOTES,
        lazy_gettext("Minimum days known"),
        lazy_gettext("Only raters known for at least this many days count. Empty: everybody counts."),
        bounds=(0, 3_650),
        optional=True,
        rescores=True,
    )
    helpful_at: float = declare(
        0.40,
        Section.NOTES,
        lazy_gettext("Helpful from"),
        lazy_gettext("The score from which a note is helpful."),
        bounds=(0.0, 0.64),
        decimals=True,
        rescores=True,
    )
    lock_days: int = declare(
        14,
        Section.NOTES,
        lazy_gettext("Days until a status is final"),
        lazy_gettext("After that many days ratings no longer change it."),
        bounds=(1, 3_650),
        rescores=True,
    )
    stabilisation_minutes: int = declare(
        0,
        Section.NOTES,
        lazy_gettext("Minutes to stay helpful"),
        lazy_gettext("A note is shown as helpful once it has been so for this long. 0: at once."),
        bounds=(0, 1_440),
        rescores=True,
    )
    published: bool = declare(
        False,
        Section.NOTES,
        lazy_gettext("Published algorithm only"),
        lazy_gettext(
            "Where there are hundreds of raters, a note is also shown if raters on both sides find it "
            "helpful. Tick this to show only what the published algorithm of Community Notes shows."
        ),
        rescores=True,
    )
    who_decides: str = declare(
        WhoDecides.EVERYONE.value,
        Section.DECIDES,
        lazy_gettext("Who decides reviews"),
        lazy_gettext(
            "Whose answers decide what is under review. A panel is drawn by lot, so that nobody can choose "
            "what to decide. While fewer than 15 people can be drawn, everyone decides."
        ),
        choices={
            WhoDecides.EVERYONE.value: lazy_gettext("Everyone who answers"),
            WhoDecides.PANEL_WHEN_NEEDED.value: lazy_gettext(
                "Everyone, and a drawn panel when there is doubt"
            ),
            WhoDecides.PANEL.value: lazy_gettext("Always a drawn panel"),
        },
    )
    panel_seats: int = declare(
        12,
        Section.DECIDES,
        lazy_gettext("Seats of a panel"),
        lazy_gettext("How many people are drawn."),
        bounds=(7, 25),
    )
    panel_hours: int = declare(
        24,
        Section.DECIDES,
        lazy_gettext("Hours to answer"),
        lazy_gettext("Without an answer after this many hours the next person is drawn."),
        bounds=(1, 168),
    )
    second_look: bool = declare(
        True,
        Section.DECIDES,
        lazy_gettext("Second look"),
        lazy_gettext(
            "A rating of an automatic action opens a second look at it. Switched off, only moderators and appeals do."
        ),
    )
    undo_seconds: float = declare(
        10.0,
        Section.DECIDES,
        lazy_gettext("Seconds to undo"),
        lazy_gettext(
            "How long a decision can be taken back before it is sent, by moderators who have not chosen a time of "
            "their own."
        ),
        bounds=(0.0, 600.0),
        decimals=True,
    )
    waves: bool = declare(
        True,
        Section.DECIDES,
        lazy_gettext("Posts alike are one row"),
        lazy_gettext(
            "Posts alike of one category that wait for review are one row of the queue, with one decision and "
            "one undo. Off: each post that comes from now on is a row."
        ),
    )
    wave_joins: bool = declare(
        False,
        Section.DECIDES,
        lazy_gettext("Decide later posts alike"),
        lazy_gettext(
            "After a moderator decided posts alike together, posts like them that come within a day are "
            "decided the same way, in the moderator's name; each can be undone. Off: they wait in the queue."
        ),
    )
    content_retention_days: int | None = declare(
        None,
        Section.KEEPING,
        lazy_gettext("Days to keep content"),
        lazy_gettext("Content of decided posts is deleted after that many days. Empty: it is kept."),
        bounds=(1, 36_500),
        optional=True,
    )
    support_text: str = declare(
        SUPPORT_TEXT,
        Section.REPORTS,
        lazy_gettext("Support text"),
        lazy_gettext(
            "Sent with a notice to the author of a post about self-harm, unless the moderator writes "
            "something else. Name the lines of help of your country."
        ),
        most=limits.REASON_MAX,
        rows=4,
    )
    report_threshold: float = declare(
        1.0,
        Section.REPORTS,
        lazy_gettext("Reports ask moderators"),
        lazy_gettext(
            "A post goes to the moderators if its reports weigh more than this together without agreeing on a "
            "category. An ordinary report weighs 0.5. Each category has a threshold of its own."
        ),
        bounds=(0.0, 1_000.0),
        decimals=True,
    )
    report_acted_text: str = declare(
        lazy_gettext("Thank you for your report. Something was done about the post."),
        Section.REPORTS,
        lazy_gettext("If something was done"),
        lazy_gettext(
            "What reporters read then. It should say neither what was done to the author nor who decided."
        ),
        most=limits.REASON_MAX,
        rows=2,
    )
    report_kept_text: str = declare(
        lazy_gettext("Thank you for your report. People looked at the post, and it stays."),
        Section.REPORTS,
        lazy_gettext("If the post stays"),
        lazy_gettext("What reporters read if people decided to keep the post."),
        most=limits.REASON_MAX,
        rows=2,
    )
    report_none_text: str = declare(
        lazy_gettext("Thank you for your report. There was no decision about the post."),
        Section.REPORTS,
        lazy_gettext("If there was no decision"),
        lazy_gettext("What reporters read if a review ended without a decision, or the post is gone."),
        most=limits.REASON_MAX,
        rows=2,
    )
    moderator_figures: bool = declare(
        False,
        Section.KEEPING,
        lazy_gettext("Figures by moderator"),
        lazy_gettext(
            "Insights then shows how many reviews each moderator decided, how fast, and how many were "
            "overturned, to everyone who may see Insights. Off unless you want it: these are figures about "
            "named people, few cases say little about a person, and who is measured by speed decides in "
            "haste."
        ),
    )
    strikes_act: str = declare(
        StrikesAct.ASK.value,
        Section.STRIKES,
        lazy_gettext("When strikes reach a step"),
        lazy_gettext(
            "A step is reached by the points that count at one time. They are taken back when the action is "
            "overturned."
        ),
        choices={
            StrikesAct.ASK.value: lazy_gettext("Propose the step to moderators"),
            StrikesAct.OBSERVE.value: lazy_gettext("Only note in the history what would be proposed"),
            StrikesAct.ACT.value: lazy_gettext("Take the step without asking"),
        },
    )
    strikes_warn: int | None = _step(3, lazy_gettext("Warn the author from"))
    strikes_silence_1: int | None = _step(6, lazy_gettext("Silence for 1 day from"))
    strikes_silence_7: int | None = _step(9, lazy_gettext("Silence for 7 days from"))
    strikes_silence_30: int | None = _step(12, lazy_gettext("Silence for 30 days from"))
    strikes_silence: int | None = _step(15, lazy_gettext("Silence without end from"))
    backlog_alert: int | None = declare(
        500,
        Section.ALERTS,
        lazy_gettext("Reviews that wait"),
        lazy_gettext("A notice when more reviews wait than this. Empty: no notice."),
        bounds=(1, 10_000),
        optional=True,
    )
    overdue_alert: int | None = declare(
        3,
        Section.ALERTS,
        lazy_gettext("Times the target time"),
        lazy_gettext(
            "A notice when a review has waited this many times its category’s target time. Empty: no notice."
        ),
        bounds=(2, 100),
        optional=True,
    )
    pause_alert_hours: int | None = declare(
        24,
        Section.ALERTS,
        lazy_gettext("Hours paused"),
        lazy_gettext("A notice when automatic actions have been paused for so long. Empty: no notice."),
        bounds=(1, 8_760),
        optional=True,
    )
    exempt_similarity: float = declare(
        0.9,
        Section.KEEPING,
        lazy_gettext("Likeness of restored posts"),
        lazy_gettext(
            "How alike an edited post must be to one that was restored, to be left alone too. 1 is the same text."
        ),
        bounds=(0.0, 1.0),
        decimals=True,
    )
    burst_share: float = declare(
        0.5,
        Section.BURSTS,
        lazy_gettext("Share of new raters"),
        lazy_gettext("Above this share of new raters moderators decide instead. 1: never."),
        bounds=(0.0, 1.0),
        decimals=True,
        rescores=True,
    )
    burst_minutes: int = declare(
        60,
        Section.BURSTS,
        lazy_gettext("Minutes looked at"),
        lazy_gettext("Only a post's ratings from this many minutes are compared."),
        bounds=(1, 10_080),
        rescores=True,
    )
    burst_hours: int = declare(
        24,
        Section.BURSTS,
        lazy_gettext("Hours a rater is new"),
        lazy_gettext("A rater who was first seen within this many hours is new."),
        bounds=(1, 8_760),
        rescores=True,
    )
    burst_raters: int = declare(
        3,
        Section.BURSTS,
        lazy_gettext("New raters at least"),
        lazy_gettext("Fewer new raters than this are no burst."),
        bounds=(1, 10_000),
        rescores=True,
    )
    burst_known: int = declare(
        20,
        Section.BURSTS,
        lazy_gettext("Known raters at least"),
        lazy_gettext("While fewer raters than this have been known for longer, nothing is a burst."),
        bounds=(0, 10_000),
        rescores=True,
    )
    factor_role: str = declare(
        NO_ROLE,
        Section.SIGN_IN,
        lazy_gettext("Second factor"),
        lazy_gettext(
            "Who needs a second factor or a passkey to use the dashboard. People have seven days to set one up; then "
            "no other page opens until they have. People who sign in at a provider need none here."
        ),
        choices={
            NO_ROLE: lazy_gettext("Asked of no one"),
            Role.MODERATOR.value: lazy_gettext("Moderators and up"),
            Role.OPERATOR.value: lazy_gettext("Operators and up"),
            Role.ADMIN.value: lazy_gettext("Admins"),
        },
        admins_only=True,
    )


SETTINGS = declared(CommunitySettings)
"""The settings that are not columns, in the order of the page."""
_SHIPPED = {
    name: setting.default for name, setting in SETTINGS.items() if isinstance(setting.default, LazyText)
}
"""Texts that people of the platform read, in the community's language until it sets others."""

DEFAULTS = "community_defaults"
"""The key of the service-wide defaults in ``Database.info`` and ``Session.info``."""


def everything() -> dict[str, Setting]:
    """The declarations of columns and settings, in the order of the page."""
    return {**COLUMNS, **SETTINGS}


def defaults(session: Session) -> CommunitySettings:
    """Service-wide defaults for settings that a community has not set."""
    wired: CommunitySettings = session.info.get(DEFAULTS, CommunitySettings())
    return wired


def for_community(community: Community, defaults: CommunitySettings) -> CommunitySettings:
    """The community's settings, with defaults for those it has not set."""
    return parse_stored(community.settings, defaults)


def parse_stored(stored: Mapping[str, Any] | None, defaults: CommunitySettings) -> CommunitySettings:
    """The settings in a stored JSON object, with defaults for missing or invalid values."""
    values = stored or {}
    known = {
        name: values[name] for name in SETTINGS.keys() & values if SETTINGS[name].fault(values[name]) is None
    }
    language = known.get("language", defaults.language)
    if language != texts.SOURCE:
        known = {name: texts.in_language(language, text) for name, text in _SHIPPED.items()} | known
    return replace(defaults, **known)


def read(session: Session, community_id: uuid.UUID) -> CommunitySettings:
    """The settings of the community with this id, as ``for_community``."""
    return for_community(session.get_one(Community, community_id), defaults(session))


def in_language(session: Session, community_id: uuid.UUID) -> AbstractContextManager[None]:
    """Use the community's language inside the ``with``: for sentences with values, which are stored as written."""
    return texts.chosen(language_of(session, community_id))


def language_of(session: Session, community_id: uuid.UUID) -> Language:
    """The community's language."""
    return texts.named(read(session, community_id).language)


def check(values: Mapping[str, Any]) -> None:
    """Refuse values that are out of bounds or of the wrong type.

    Raises:
        Invalid: a value cannot be stored; names the first such field.
    """
    for name, setting in everything().items():
        if name in values:
            setting.check(values[name])
