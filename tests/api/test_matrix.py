"""Every route of the API × every kind of key: who gets in, exactly.

Without a key 401, with one that may not 403; what belongs to another community looks unknown (404). An empty body of a
key that may is explained (422).
"""

import re
from collections.abc import Mapping

import pytest
from flask import Flask

from app.core.models import Action, Community, Request
from app.core.notes import notes, ratings
from app.core.people import profiles
from app.core.permissions import SYSTEM
from app.core.reports import reporting
from app.core.reports.reporting import NewReport
from app.core.vocabulary import Classification, HelpfulnessLevel
from app.core.webhooks import registrations as webhooks
from app.wiring import Wiring
from tests import factories
from tests.cast import PLATFORM, Cast

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
KEYS = ("none", "adapter", "read-only", "metrics", "foreign")
SKIPPED = ("/api/v2",)
"""The same views under another name (docs/integrate/api.md)."""

# For a call without a key, by an adapter's, a read-only adapter's, a Metrics key, an adapter of another community.
TABLE = """
GET    /$discovery/rest                                                           200 200 200 200 200
POST   /api/public/v1/scores                                                      401 422 403 403 422
POST   /v1/moderations                                                            401 400 403 403 400
POST   /v1alpha1/comments:analyze                                                 401 400 403 403 400
POST   /v1alpha1/comments:suggestscore                                            401 200 403 403 200
GET    /api/public/v1/community-servers/<reference>                               401 200 200 403 404
GET    /api/public/v1/community-servers/lookup                                    401 422 422 403 422
GET    /api/public/v1/docs                                                        200 200 200 200 200
GET    /api/public/v1/moderation-actions                                          401 200 200 403 200
POST   /api/public/v1/moderation-actions                                          401 422 403 403 422
GET    /api/public/v1/moderation-actions/<action_id>                              401 200 200 403 404
PATCH  /api/public/v1/moderation-actions/<action_id>                              401 422 403 403 422
GET    /api/public/v1/notes                                                       401 200 200 403 200
POST   /api/public/v1/notes                                                       401 422 403 403 422
GET    /api/public/v1/notes/<note_id>                                             401 200 200 403 404
PATCH  /api/public/v1/notes/<note_id>                                             401 422 403 403 422
POST   /api/public/v1/notes/<note_id>/dismiss                                     401 200 403 403 404
POST   /api/public/v1/notes/<note_id>/force-publish                               401 200 403 403 404
GET    /api/public/v1/notes/<note_id>/ratings                                     401 200 200 403 404
GET    /api/public/v1/notes/<note_id>/ratings/stats                               401 200 200 403 404
GET    /api/public/v1/openapi.json                                                200 200 200 200 200
POST   /api/public/v1/ratings                                                     401 422 403 403 422
GET    /api/public/v1/ratings/<rating_id>                                         401 200 200 403 404
PUT    /api/public/v1/ratings/<rating_id>                                         401 422 403 403 422
GET    /api/public/v1/reports                                                     401 200 200 403 200
POST   /api/public/v1/reports                                                     401 422 403 403 422
GET    /api/public/v1/reports/<report_id>                                         401 200 200 403 404
PATCH  /api/public/v1/reports/<report_id>                                         401 422 403 403 422
GET    /api/public/v1/requests                                                    401 200 200 403 200
POST   /api/public/v1/requests                                                    401 422 403 403 422
POST   /api/public/v1/requests/batch                                              401 422 403 403 422
GET    /api/public/v1/requests/<request_reference:reference>                      401 200 200 403 404
PATCH  /api/public/v1/requests/<request_reference:reference>                      401 200 403 403 404
POST   /api/public/v1/requests/<any_id:reference>/ai-notes                        401 201 403 403 404
POST   /api/public/v1/user-profiles/link                                          401 422 403 403 422
GET    /api/public/v1/user-profiles/<profile_id>/standing                         401 200 403 403 200
GET    /api/public/v1/user-profiles/lookup                                        401 422 422 403 422
POST   /api/v1/community-servers                                                  401 422 403 403 422
PATCH  /api/v1/community-servers/<any_id:platform_community_server_id>/name       401 422 403 403 422
GET    /api/v1/config/rating-thresholds                                           401 200 200 403 200
GET    /api/v2/community-servers/<reference>/scoring-analysis                     401 200 200 403 404
GET    /healthz                                                                   200 200 200 200 200
GET    /metrics                                                                   401 403 403 200 403
GET    /readyz                                                                    503 503 503 503 503
GET    /webhooks                                                                  401 200 200 403 200
GET    /webhooks/<string(length=36):webhook_id>                                   401 200 200 403 404
GET    /webhooks/<string(length=36):webhook_id>/deliveries                        401 200 200 403 404
POST   /webhooks/<string(length=36):webhook_id>/replay                            401 409 403 403 404
PATCH  /webhooks/<string(length=36):webhook_id>                                   401 200 403 403 404
POST   /webhooks/<string(length=36):webhook_id>/test                              401 202 403 403 404
POST   /webhooks/register                                                         401 422 403 403 422
DELETE /api/public/v1/notes/<note_id>                                             401 204 403 403 404
DELETE /api/public/v1/requests/<request_reference:reference>                      401 204 403 403 404
DELETE /webhooks/<string(length=36):webhook_id>                                   401 204 403 403 404
GET    /scim/v2/ServiceProviderConfig                                             401 401 401 401 401
GET    /scim/v2/Schemas                                                           401 401 401 401 401
GET    /scim/v2/Schemas/<schema_id>                                               401 401 401 401 401
GET    /scim/v2/ResourceTypes                                                     401 401 401 401 401
GET    /scim/v2/ResourceTypes/<name>                                              401 401 401 401 401
POST   /scim/v2/.search                                                           401 401 401 401 401
POST   /scim/v2/Bulk                                                              401 401 401 401 401
GET    /scim/v2/Users                                                             401 401 401 401 401
POST   /scim/v2/Users                                                             401 401 401 401 401
GET    /scim/v2/Users/<user_id>                                                   401 401 401 401 401
PUT    /scim/v2/Users/<user_id>                                                   401 401 401 401 401
PATCH  /scim/v2/Users/<user_id>                                                   401 401 401 401 401
DELETE /scim/v2/Users/<user_id>                                                   401 401 401 401 401
GET    /scim/v2/Groups                                                            401 401 401 401 401
POST   /scim/v2/Groups                                                            401 401 401 401 401
GET    /scim/v2/Groups/<group_id>                                                 401 401 401 401 401
PUT    /scim/v2/Groups/<group_id>                                                 401 401 401 401 401
PATCH  /scim/v2/Groups/<group_id>                                                 401 401 401 401 401
DELETE /scim/v2/Groups/<group_id>                                                 401 401 401 401 401
"""
EXPECTED = {
    (method, rule): tuple(map(int, rest))
    for method, rule, *rest in map(str.split, TABLE.strip().splitlines())
}


def routes(app: Flask) -> set[tuple[str, str]]:
    return {
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        if not rule.endpoint.startswith(("web.", "static", "preview"))
        and (not rule.rule.startswith(SKIPPED) or "scoring-analysis" in rule.rule)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


def test_every_route_is_in_the_table(app: Flask) -> None:
    assert set(EXPECTED) == routes(app)


@pytest.mark.parametrize("key", KEYS)
def test_every_key_gets_what_the_table_says(app: Flask, wiring: Wiring, cast: Cast, key: str) -> None:
    values, headers = scene(wiring, cast), headers_of(cast)[key]
    told = {}
    for method, rule in EXPECTED:
        path = address(rule, values)
        body = None if method == "GET" else {}
        told[method, rule] = (
            app.test_client().open(path, method=method, headers=headers, json=body).status_code
        )
    column = KEYS.index(key)
    assert told == {route: statuses[column] for route, statuses in EXPECTED.items()}


def address(rule: str, values: Mapping[str, str]) -> str:
    """The path of a route with its parameters filled in."""
    known = {**values, "reference": values["community_id"]} if "community-servers" in rule else values
    return re.sub(r"<(?:[^<>:]+:)?(\w+)>", lambda found: known[found[1]], rule)


def headers_of(cast: Cast) -> Mapping[str, dict[str, str]]:
    return {
        "none": {},
        "adapter": cast.headers,
        "read-only": cast.read_only_headers,
        "metrics": {"Authorization": f"Bearer {cast.metrics_key}"},
        "foreign": cast.foreign_headers,
    }


def scene(wiring: Wiring, cast: Cast) -> dict[str, str]:
    """One object of every kind in the home community, by the name that routes give it."""
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        request = session.get_one(Request, session.get_one(Action, action_id).request_id)
        author, rater = (profiles.ensure(session, PLATFORM, name) for name in ("author", "rater"))
        note = notes.write(
            session, SYSTEM, community.id, author, "It claims nothing", Classification.NOT_MISLEADING
        )
        rating, *_ = ratings.rate(
            session, factories.integration(cast, profile_id=rater.id), note, rater, HelpfulnessLevel.HELPFUL
        )
        webhook, _ = webhooks.register(
            session,
            SYSTEM,
            wiring.sealer,
            wiring.allow,
            community,
            "https://hooks.example/x",
            "a-secret-of-mine",
        )
        filed = reporting.file(
            session,
            factories.integration(cast),
            community,
            rater,
            NewReport("report-1", "rater", request_id=str(request.id)),
        )
        return {
            "report_id": str(filed.report.id),
            "reference": str(request.id),
            "action_id": str(action_id),
            **dict.fromkeys(("schema_id", "name", "user_id", "group_id"), "any"),
            "note_id": str(note.id),
            "rating_id": str(rating.id),
            "webhook_id": str(webhook.id),
            "profile_id": str(author.id),
            "community_id": str(community.id),
            "platform_community_server_id": community.platform_community_server_id,
        }
