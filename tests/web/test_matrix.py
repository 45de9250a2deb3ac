"""Every route of the dashboard × everybody: who gets in, exactly, and what an empty form is answered.

Signed out one is led to the sign-in page (303) or refused (401), with too low a role refused (403); what belongs to
another community looks unknown (404). An empty form of somebody who may is explained (422).
"""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import clock
from app.core.factcheck import feeds, imports, items
from app.core.factcheck.feeds import FeedDraft
from app.core.factcheck.imports import Upload
from app.core.history.reason import Reason
from app.core.models import (
    Action,
    Community,
    Delivery,
    FactCheckItem,
    HistoryEntry,
    Membership,
    Overturn,
    Profile,
    Replay,
)
from app.core.people import invitations, keys
from app.core.permissions import Actor
from app.core.reports import reporting
from app.core.reports.reporting import NewReport
from app.core.review import holds, reason_templates, saved_filters
from app.core.review.reason_templates import ReasonDraft
from app.core.services import services
from app.core.services.services import Registry
from app.core.services.settings import ServiceSettings
from app.core.vocabulary import ActionVerb, KeyTemplate, Role
from app.core.webhooks import registrations as webhooks
from app.core.webhooks import replays
from app.core.webhooks.deliveries import Filters
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.web.conftest import Stage, Visitor

Visit = Callable[[Person | None], Visitor]
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

PEOPLE = ("nobody", "rater", "moderator", "operator", "admin", "outsider")
UNKNOWN = "00000000-0000-7000-8000-000000000009"

FILLED = {
    "/help-needed/new-count": {"since": "2026-01-01T00:00:00Z"},
    "/insights.csv": {"table": "volume"},
    "/help-needed/<uuid:action_id>": {"answer": "yes"},
    "/classifiers/services/new": {"kind": "http"},
}
"""What these are sent, in the query of a GET or as the form of a POST; all others are sent nothing."""

# For nobody who signed in, a rater, a moderator, an operator, an admin, a moderator of another community.
TABLE = """
GET  /.well-known/change-password                               303 303 303 303 303 303
GET  /.well-known/security.txt                                  404 404 404 404 404 404
GET  /                                                          200 303 303 303 303 404
GET  /authors                                                   303 403 200 200 200 404
GET  /authors/<uuid:profile_id>                                 303 403 404 404 404 404
POST /authors/<uuid:profile_id>/note                            401 403 404 404 404 404
POST /authors/<uuid:profile_id>/strikes                         401 403 404 404 404 404
POST /authors/<uuid:profile_id>/strikes/<uuid:strike_id>/lift   401 403 404 404 404 404
GET  /authors/of                                                303 403 404 404 404 404
GET  /classifiers                                               303 403 403 200 200 404
POST /classifiers/<int:version>/revert                          401 403 403 422 422 404
POST /classifiers/discard                                       401 403 403 303 303 404
GET  /classifiers/export.json                                   303 403 403 200 200 404
POST /classifiers/hits                                          401 403 403 200 200 404
POST /classifiers/import                                        401 403 403 422 422 404
GET  /classifiers/learned/<category>                            303 403 403 404 404 404
POST /classifiers/learned/<category>/<int:version>              401 403 403 404 404 404
POST /classifiers/learned/<category>/<int:version>/try          401 403 403 404 404 404
POST /classifiers/learning                                      401 403 403 422 422 404
GET  /classifiers/new-rule                                      303 403 403 200 200 404
POST /classifiers/new-rule                                      401 403 403 422 422 404
POST /classifiers/publish                                       401 403 403 422 422 404
GET  /classifiers/rules/<rule_id>                               303 403 403 404 404 404
POST /classifiers/rules/<rule_id>                               401 403 403 422 422 404
POST /classifiers/rules/<rule_id>/remove                        401 403 403 404 404 404
GET  /classifiers/services/<uuid:service_id>                    303 403 403 200 200 404
POST /classifiers/services/<uuid:service_id>                    401 403 403 422 422 404
GET  /classifiers/services/<uuid:service_id>/comparison         303 403 403 200 200 404
POST /classifiers/services/<uuid:service_id>/key                401 403 403 422 422 404
POST /classifiers/services/<uuid:service_id>/mode               401 403 403 422 422 404
POST /classifiers/services/<uuid:service_id>/remove             401 403 403 422 422 404
POST /classifiers/services/<uuid:service_id>/required           401 403 403 422 422 404
POST /classifiers/services/<uuid:service_id>/versions/<int:number>/measure 401 403 403 422 422 404
POST /classifiers/services/<uuid:service_id>/versions/<int:number>/put-in-force 401 403 403 422 422 404
POST /classifiers/services/<uuid:service_id>/versions/<int:number>/try 401 403 403 200 200 404
GET  /classifiers/services/new                                  303 403 403 200 200 404
POST /classifiers/services/new                                  401 403 403 422 422 404
POST /classifiers/shipped                                       401 403 403 404 404 404
GET  /classifiers/shipped/<category>                            303 403 403 200 200 404
POST /classifiers/test                                          401 403 403 422 422 404
GET  /communities                                               303 200 200 200 200 200
GET  /community                                                 303 403 403 200 200 404
POST /community                                                 401 403 403 422 422 404
GET  /community/<section>                                       303 403 403 200 200 404
POST /community/<section>                                       401 403 403 422 422 404
GET  /community/danger/<name>                                   303 403 403 200 200 404
POST /community/danger/<name>                                   401 403 403 422 422 404
GET  /community/new                                             303 200 200 200 200 200
POST /community/new                                             401 422 422 422 422 422
GET  /community/overturns                                       303 403 403 200 200 404
POST /community/overturns                                       401 403 403 422 422 404
GET  /community/overturns/<uuid:overturn_id>                    303 403 403 200 200 404
GET  /community/overturns/<uuid:overturn_id>/progress           303 403 403 200 200 404
POST /community/overturns/<uuid:overturn_id>/stop               401 403 403 303 303 404
POST /community/strikes/try                                     401 403 403 200 200 404
GET  /confirm/<token>                                           410 410 410 410 410 410
POST /confirm/<token>                                           410 410 410 410 410 410
POST /confirm/again                                             303 303 303 303 303 303
GET  /confirm-it-is-you                                         303 303 303 303 303 303
POST /confirm-it-is-you                                         401 303 303 303 303 303
POST /confirm-it-is-you/options                                 401 200 200 200 200 200
GET  /datasets                                                  303 403 403 200 200 404
POST /datasets                                                  401 403 403 422 422 404
GET  /datasets/feeds/<uuid:feed_id>                             303 403 403 200 200 404
POST /datasets/feeds/<uuid:feed_id>                             401 403 403 422 422 404
POST /datasets/feeds/<uuid:feed_id>/look                        401 403 403 303 303 404
POST /datasets/feeds/<uuid:feed_id>/pause                       401 403 403 303 303 404
GET  /datasets/feeds/new                                        303 403 403 200 200 404
POST /datasets/feeds/new                                        401 403 403 422 422 404
GET  /datasets/imports/<uuid:import_id>                         303 403 403 200 200 404
POST /datasets/imports/<uuid:import_id>/columns                 401 403 403 422 422 404
GET  /datasets/imports/<uuid:import_id>/progress                303 403 403 200 200 404
POST /datasets/imports/<uuid:import_id>/store                   401 403 403 409 409 404
GET  /datasets/items/<uuid:item_id>                             303 403 403 200 200 404
POST /datasets/items/<uuid:item_id>/bring-back                  401 403 403 409 409 404
POST /datasets/items/<uuid:item_id>/retire                      401 403 403 303 303 404
GET  /datasets/sample.csv                                       303 403 403 200 200 404
GET  /datasets/sample.jsonl                                     303 403 403 200 200 404
GET  /deliveries                                                303 403 403 200 200 404
GET  /deliveries/<uuid:delivery_id>                             303 403 403 200 200 404
GET  /deliveries/<uuid:delivery_id>/attempts                    303 403 403 303 303 404
POST /deliveries/<uuid:delivery_id>/replay                      401 403 403 303 303 404
GET  /deliveries/replay                                         303 403 403 200 200 404
POST /deliveries/replay                                         401 403 403 409 409 404
GET  /deliveries/replays/<uuid:replay_id>                       303 403 403 200 200 404
GET  /deliveries/replays/<uuid:replay_id>/progress              303 403 403 200 200 404
GET  /desk                                                      303 200 200 200 200 404
GET  /endpoints                                                 303 403 403 200 200 404
POST /endpoints                                                 401 403 403 422 422 404
GET  /endpoints/<uuid:webhook_id>                              303 403 403 200 200 404
POST /endpoints/<uuid:webhook_id>                              401 403 403 422 422 404
GET  /endpoints/events                                          303 403 403 200 200 404
POST /endpoints/<uuid:webhook_id>/disable                      401 403 403 303 303 404
POST /endpoints/<uuid:webhook_id>/enable                       401 403 403 303 303 404
POST /endpoints/<uuid:webhook_id>/end-secret                   401 403 403 303 303 404
POST /endpoints/<uuid:webhook_id>/rotate                       401 403 403 409 409 404
POST /endpoints/<uuid:webhook_id>/test                         401 403 403 303 303 404
GET  /first-admin/<token>                                       410 410 410 410 410 410
POST /first-admin/<token>                                       410 410 410 410 410 410
GET  /forgot                                                    200 303 303 303 303 303
POST /forgot                                                    422 422 422 422 422 422
GET  /getting-started                                           303 403 403 200 200 404
POST /getting-started/hide                                      401 403 403 303 303 404
POST /getting-started/show                                      401 403 403 303 303 404
GET  /help-needed                                               303 200 200 200 200 404
POST /help-needed/<uuid:action_id>                              401 303 303 303 303 404
POST /help-needed/<uuid:action_id>/decline                      401 404 404 404 404 404
POST /help-needed/<uuid:action_id>/undo                         401 303 303 303 303 404
POST /help-needed/notes/<uuid:note_id>                          401 422 422 422 422 404
POST /help-needed/notes/<uuid:note_id>/undo                     401 303 303 303 303 404
GET  /help-needed/new-count                                     303 200 200 200 200 404
GET  /history                                                   303 403 200 200 200 404
GET  /history.csv                                               303 403 200 200 200 404
GET  /history/<uuid:entry_id>                                   303 403 200 200 200 404
GET  /history/settings                                          303 403 403 200 200 404
GET  /history/settings.csv                                      303 403 403 200 200 404
GET  /history/settings/<uuid:change_id>                         303 403 403 200 200 404
POST /holds/<uuid:hold_id>/undo                                 401 403 303 403 403 404
POST /holds/undo                                                401 303 303 303 303 303
GET  /insights                                                  303 403 200 200 200 404
GET  /insights.csv                                              303 403 200 200 200 404
GET  /join/<token>                                              410 410 410 410 410 410
POST /join/<token>                                              410 410 410 410 410 410
GET  /keys                                                      303 403 403 403 200 404
POST /keys                                                      401 403 403 403 422 404
POST /keys/communities                                          401 403 403 403 200 404
GET  /keys/<uuid:key_id>/revoke                                 303 403 403 403 200 404
POST /keys/<uuid:key_id>/revoke                                 401 403 403 403 422 404
GET  /mail-sent                                                 200 200 200 200 200 200
GET  /me                                                        303 200 200 200 200 404
GET  /notes/<uuid:note_id>                                      303 200 200 200 200 404
POST /notes/<uuid:note_id>/decide                               401 403 422 422 422 404
GET  /notes/<uuid:note_id>/edit                                 303 403 403 403 403 404
POST /notes/<uuid:note_id>/edit                                 401 403 403 403 403 404
GET  /notes/<uuid:note_id>/moderation                           303 403 200 200 200 404
POST /notes/<uuid:note_id>/rating                               401 422 422 422 422 404
POST /notes/<uuid:note_id>/rating/undo                          401 303 303 303 303 404
GET  /notices                                                   303 403 200 200 200 404
POST /notices/<uuid:notice_id>/read                             401 403 404 404 404 404
POST /notices/read                                              401 403 303 303 303 404
GET  /people                                                    303 403 403 403 200 404
GET  /people/<uuid:membership_id>                               303 403 403 403 200 404
POST /people/<uuid:membership_id>/disable                       401 403 403 403 422 404
POST /people/<uuid:membership_id>/enable                        401 403 403 403 422 404
POST /people/<uuid:membership_id>/link                          401 403 403 403 422 404
POST /people/<uuid:membership_id>/remove                        401 403 403 403 422 404
POST /people/<uuid:membership_id>/remove-factors                401 403 403 403 422 404
POST /people/<uuid:membership_id>/role                          401 403 403 403 422 404
POST /people/<uuid:membership_id>/unlink                        401 403 403 403 422 404
POST /people/invitations/<uuid:invitation_id>/withdraw          401 403 403 403 303 404
POST /people/invite                                             401 403 403 403 422 404
GET  /reasons                                                   303 403 403 200 200 404
POST /reasons                                                   401 403 403 422 422 404
GET  /reasons/<uuid:reason_id>                                  303 403 403 200 200 404
POST /reasons/<uuid:reason_id>                                  401 403 403 422 422 404
POST /reasons/<uuid:reason_id>/restore                          401 403 403 303 303 404
POST /reasons/<uuid:reason_id>/retire                           401 403 403 422 422 404
GET  /reset/<token>                                             410 410 410 410 410 410
POST /reset/<token>                                             410 410 410 410 410 410
GET  /review                                                    303 403 200 200 200 404
GET  /review/<uuid:action_id>                                   303 200 200 200 200 404
POST /review/<uuid:action_id>/report                            401 422 422 422 422 404
POST /me/reports/<uuid:report_id>/withdraw                      401 303 404 404 404 404
GET  /reports                                                   303 403 200 200 200 404
GET  /reports.csv                                               303 403 200 200 200 404
POST /reports/<uuid:request_id>/review                          401 403 303 303 303 404
GET  /reports/reporters/<uuid:profile_id>                       303 403 404 404 404 404
POST /reports/reporters/<uuid:profile_id>/mute                  401 403 404 404 404 404
POST /reports/reporters/<uuid:profile_id>/unmute                401 403 404 404 404 404
POST /review/<uuid:action_id>/answer/undo                       401 303 303 303 303 404
POST /review/<uuid:action_id>/answer                            401 422 422 422 422 404
POST /review/<uuid:action_id>/assign                            401 403 422 422 422 404
POST /review/<uuid:action_id>/author-note                       401 403 422 422 422 404
GET  /review/<uuid:action_id>/claim                             303 403 200 200 200 404
POST /review/<uuid:action_id>/claim                             401 403 303 303 303 404
POST /review/<uuid:action_id>/decide                            401 403 422 422 422 404
POST /review/<uuid:action_id>/draft                             401 403 303 303 303 404
POST /review/<uuid:action_id>/draft/discard                     401 403 303 303 303 404
POST /review/<uuid:action_id>/lift                              401 403 422 422 422 404
GET  /review/<uuid:action_id>/media/<int:number>                303 404 404 404 404 404
GET  /review/<uuid:action_id>/media/<int:number>/preview        303 404 404 404 404 404
POST /review/<uuid:action_id>/escalate                          401 403 422 422 422 404
POST /review/<uuid:action_id>/wave/stop                         401 403 404 404 404 404
POST /review/<uuid:action_id>/message                           401 403 422 422 422 404
POST /review/<uuid:action_id>/notes                             401 422 422 422 422 404
GET  /review/<uuid:action_id>/panel                             303 403 200 200 200 404
POST /review/<uuid:action_id>/release                           401 403 303 303 303 404
POST /review/<uuid:action_id>/renew                             401 403 204 204 204 404
POST /review/<uuid:action_id>/reopen                            401 403 422 422 422 404
POST /review/<uuid:action_id>/second-look                       401 403 422 422 422 404
POST /review/<uuid:action_id>/snooze                            401 403 422 422 422 404
POST /review/<uuid:action_id>/take-over                         401 403 303 303 303 404
POST /review/dismiss                                            401 403 422 422 422 404
POST /review/filters                                            401 403 422 422 422 404
POST /review/filters/<uuid:filter_id>/delete                    401 403 303 404 404 404
POST /review/filters/<uuid:filter_id>/queue                     401 403 404 404 404 404
GET  /review/matching                                           303 403 200 200 200 404
GET  /review/new-count                                          303 403 204 204 204 404
POST /review/next                                               401 403 303 303 303 404
POST /review/rows                                               401 403 303 303 303 404
POST /review/stop                                               401 403 303 303 303 404
GET  /review/settled                                            303 403 200 200 200 404
GET  /second-look                                               303 403 200 200 200 404
POST /second-look/decide                                        401 403 422 422 422 404
GET  /second-look/new-count                                     303 403 204 204 204 404
POST /second-look/next                                          401 403 303 303 303 404
GET  /second-look/settled                                       303 403 200 200 200 404
GET  /security                                                  303 200 200 200 200 200
GET  /security/codes                                            303 303 303 303 303 303
POST /security/codes                                            401 303 303 303 303 303
POST /security/codes/begin                                      401 303 303 303 303 303
POST /security/codes/off                                        401 422 422 422 422 422
POST /security/passkeys                                         401 422 422 422 422 422
POST /security/passkeys/<uuid:passkey_id>/remove                401 404 404 404 404 404
POST /security/passkeys/<uuid:passkey_id>/rename                401 422 422 422 422 422
POST /security/passkeys/options                                 401 200 200 200 200 200
POST /security/recovery-codes                                   401 409 409 409 409 409
GET  /session                                                   200 200 200 200 200 200
POST /session/stay                                              401 200 200 200 200 200
GET  /settings                                                  303 200 200 200 200 200
POST /settings                                                  401 303 303 303 303 303
GET  /settings/<part>                                           303 200 200 200 200 200
POST /settings/<part>                                           401 303 303 303 303 303
POST /settings/email                                            401 422 422 422 422 422
POST /settings/link-code                                        401 200 200 200 200 200
POST /settings/linked/<uuid:profile_id>/unlink                  401 404 404 404 404 404
GET  /settings/my-data                                          303 200 200 200 200 200
GET  /settings/my-data.json                                     303 404 404 404 404 404
GET  /settings/my-data/progress                                 303 303 303 303 303 303
POST /settings/my-data                                          401 303 303 303 303 303
POST /settings/password                                         401 422 422 422 422 422
POST /settings/sessions/<uuid:sign_in_id>/end                   401 404 404 404 404 404
POST /settings/sessions/end-others                              401 303 303 303 303 303
POST /settings/providers/<uuid:identity_id>/disconnect          401 404 404 404 404 404
POST /settings/providers/<uuid:provider_id>/connect             401 404 404 404 404 404
GET  /sign-in-methods                                           303 403 403 403 403 403
POST /sign-in-methods/passwords                                 401 403 403 403 403 403
POST /sign-in-methods/second-factor                             401 403 403 403 403 403
GET  /sign-in-methods/new                                       303 403 403 403 403 403
POST /sign-in-methods/new                                       401 403 403 403 403 403
GET  /sign-in-methods/<uuid:provider_id>                        303 403 403 403 403 403
POST /sign-in-methods/<uuid:provider_id>                        401 403 403 403 403 403
POST /sign-in-methods/<uuid:provider_id>/disable                401 403 403 403 403 403
POST /sign-in-methods/<uuid:provider_id>/discover               401 403 403 403 403 403
POST /sign-in-methods/<uuid:provider_id>/enable                 401 403 403 403 403 403
GET  /sign-in-methods/<uuid:provider_id>/groups                 303 403 403 403 403 403
GET  /sign-in-methods/<uuid:provider_id>/groups/<uuid:community_id> 303 403 403 403 403 403
POST /sign-in-methods/<uuid:provider_id>/groups/<uuid:community_id> 401 403 403 403 403 403
POST /sign-in-methods/<uuid:provider_id>/remove                 401 403 403 403 403 403
POST /sign-in-methods/<uuid:provider_id>/scim-key               401 403 403 403 403 403
POST /sign-in-methods/<uuid:provider_id>/scim-key/remove        401 403 403 403 403 403
POST /sign-in-methods/<uuid:provider_id>/try                    401 403 403 403 403 403
POST /sign-in/again/<uuid:provider_id>                          401 404 404 404 404 404
GET  /sign-in/callback                                          400 400 400 400 400 400
GET  /sign-in/link/<token>                                      410 410 410 410 410 410
POST /sign-in/link/<token>                                      410 410 410 410 410 410
POST /sign-in/logout/<uuid:provider_id>                         404 404 404 404 404 404
POST /sign-in/with/<uuid:provider_id>                           404 303 303 303 303 303
GET  /sign-in                                                   200 303 303 303 303 303
POST /sign-in                                                   422 422 422 422 422 422
POST /sign-in/passkey                                           401 401 401 401 401 401
POST /sign-in/passkey/options                                   200 200 200 200 200 200
GET  /sign-in/second-step                                       303 303 303 303 303 303
POST /sign-in/second-step                                       401 401 401 401 401 401
POST /sign-in/second-step/options                               401 401 401 401 401 401
GET  /sign-up                                                   200 303 303 303 303 303
POST /sign-up                                                   422 422 422 422 422 422
GET  /test-post                                                 303 403 403 200 200 404
POST /test-post                                                 401 403 403 303 303 404
GET  /test-post/<reference>                                     303 403 403 200 200 404
GET  /test-post/<reference>/progress                            303 403 403 200 200 404
GET  /thresholds                                                303 403 403 200 200 404
POST /thresholds                                                401 403 403 422 422 404
POST /thresholds/<int:version>/revert                           401 403 403 422 422 404
GET  /unsubscribe/<uuid:account_id>/<token>                     404 404 404 404 404 404
POST /unsubscribe/<uuid:account_id>/<token>                     404 404 404 404 404 404
GET  /welcome                                                   303 200 200 200 200 404
POST /welcome                                                   401 422 422 422 422 404
POST /welcome/again                                             401 303 303 303 303 404
POST /datasets/feeds/<uuid:feed_id>/remove                      401 403 403 303 303 404
POST /datasets/imports/<uuid:import_id>/stop                    401 403 403 303 303 404
POST /endpoints/<uuid:webhook_id>/remove                       401 403 403 303 303 404
POST /communities/<uuid:community_id>/join                      401 303 303 303 303 303
POST /communities/<uuid:community_id>/leave                     401 303 409 409 409 303
POST /settings/delete                                           401 422 422 422 422 422
POST /sign-out                                                  303 303 303 303 303 303
"""

EXPECTED = {
    (method, rule): tuple(map(int, rest))
    for method, rule, *rest in map(str.split, TABLE.strip().splitlines())
}


def test_every_route_is_in_the_table(app: Flask) -> None:
    assert set(EXPECTED) == {
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("web.")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


@pytest.mark.parametrize("who", PEOPLE)
def test_everybody_gets_what_the_table_says(
    visit: Visit, wiring: Wiring, cast: Cast, stage: Stage, who: str
) -> None:
    """In the table's order: what ends something stands at its end."""
    values = scene(wiring, cast, stage)
    visitor = visit(None if who == "nobody" else getattr(cast, who))
    told = {}
    for method, rule in EXPECTED:
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(values[found[1]]), rule)
        given = FILLED.get(rule, {})
        if method == "GET":
            answer = visitor.get(f"{path}?{urlencode({'community': cast.community_id, **given})}")
        else:
            answer = visitor.post(f"{path}?community={cast.community_id}", **given)
        told[method, rule] = answer.status_code
    column = PEOPLE.index(who)
    assert told == {route: statuses[column] for route, statuses in EXPECTED.items()}


def scene(wiring: Wiring, cast: Cast, stage: Stage) -> dict[str, Any]:
    """One object of every kind in the community, by the name that routes give it, or by route and name."""
    action_id, decided_id = stage.post(), stage.post("Another post")
    note_id = stage.note(action_id)
    here = {"communities": frozenset({cast.community_id}), "kind": "account"}
    admin = Actor(
        name="Admin", account_id=cast.admin.account_id, roles={cast.community_id: Role.ADMIN}, **here
    )
    moderator = Actor(
        name="Moderator",
        account_id=cast.moderator.account_id,
        roles={cast.community_id: Role.MODERATOR},
        **here,
    )
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        decided = session.get_one(Action, decided_id)
        held = holds.hold(session, moderator, ActionVerb.DISMISS, action=decided, reason=Reason("Banter"))
        reason = reason_templates.add(session, admin, community.id, ReasonDraft("Advert", "It advertises"))
        key = keys.mint(session, admin, "Forum", KeyTemplate.ADAPTER, [community.id]).key
        webhook, _ = webhooks.register(
            session,
            admin,
            wiring.sealer,
            wiring.allow,
            community,
            "https://hooks.example/x",
            "a-secret-of-mine",
        )
        webhooks.send_test(session, admin, webhook.id)
        invitation = invitations.invite(session, admin, community.id, "new@example.org", Role.RATER)
        kept = saved_filters.save(session, moderator, community.id, "Mine", {"sort": "score"})
        # Its budget is 0, so that nothing is sent to it.
        settings = ServiceSettings("https://models.example/x", categories={"x": "spam"}, daily_requests=0)
        registry = Registry(wiring.services.kinds, wiring.sealer, wiring.services.allow)
        service = services.add(
            session, admin, community.id, registry, "http", "own", settings, "Try it", consent=True
        )
        replay = Replay(
            community_id=community.id, filters=replays.written(Filters(until=clock.now())), total=1
        )
        overturn = Overturn(
            community_id=community.id,
            account_id=cast.admin.account_id,
            since=clock.now(),
            reason="A bad rule",
        )
        session.add_all([replay, overturn])
        begun = imports.begin(session, admin, community.id, Upload("a.csv", b"claim,rating,url\n"))
        feed = feeds.add(
            session, admin, wiring.allow, community.id, FeedDraft("https://feeds.example/x", "x")
        )
        published = items.Item("x", "1", "A claim", "False", "https://checks.example/1", "Checks")
        items.keep(session, [published], community.id)
        reporter = session.get_one(Profile, cast.rater.profile_id)
        posted = session.scalars(sa.select(Action.request_id).where(Action.id == decided_id)).one()
        filed = reporting.file(
            session,
            Actor(name="Rater", roles={cast.community_id: Role.RATER}, profile_id=reporter.id, **here),
            community,
            reporter,
            NewReport("dashboard:1", str(reporter.id), request_id=str(posted)),
        )
        session.flush()
        return {
            "section": "notes",
            "part": "reading",
            "action_id": action_id,
            "note_id": note_id,
            "report_id": filed.report.id,
            "request_id": posted,
            "hold_id": held.id,
            "reason_id": reason.id,
            "key_id": key.id,
            "webhook_id": webhook.id,
            "delivery_id": session.scalars(sa.select(Delivery.id)).one(),
            "invitation_id": invitation.id,
            "filter_id": kept.id,
            "replay_id": replay.id,
            "overturn_id": overturn.id,
            "import_id": begun.id,
            "feed_id": feed.id,
            "item_id": session.scalars(sa.select(FactCheckItem.id)).one(),
            "community_id": community.id,
            "entry_id": session.scalars(
                sa.select(HistoryEntry.id).where(HistoryEntry.object_type == "action").limit(1)
            ).one(),
            "change_id": session.scalars(
                sa.select(HistoryEntry.id).where(HistoryEntry.object_type == "webhook").limit(1)
            ).one(),
            "membership_id": session.scalars(
                sa.select(Membership.id).where(Membership.account_id == cast.rater.account_id)
            ).one(),
            "notice_id": UNKNOWN,
            "passkey_id": UNKNOWN,
            "profile_id": UNKNOWN,
            "provider_id": UNKNOWN,
            "identity_id": UNKNOWN,
            "sign_in_id": UNKNOWN,
            "strike_id": UNKNOWN,
            "account_id": UNKNOWN,
            "token": "no-such-token",
            "reference": "test-000000000000",
            "version": 1,
            "rule_id": "spam-1",
            "category": "spam",
            "service_id": service.id,
            "number": 1,
            "name": "pause",
        }
