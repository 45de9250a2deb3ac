"""Operators make shared filters queues: in an order, for some moderators or for all."""

import re
import uuid

import pytest

from app.core.models import SavedFilter
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import Stage, Visitor
from tests.web.test_saved_filters import kept, links


@pytest.mark.both_databases
def test_a_queue_stands_in_its_order_and_is_seen_by_its_members_alone(
    moderator: Visitor, operator: Visitor, outsider: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    stage.post(category="spam")
    for name, category in (("Alpha", "spam"), ("Beta", "toxicity"), ("Private", "hate")):
        shared = {} if name == "Private" else {"shared": "y"}
        operator.post(f"/review/filters?category={category}", name=name, **shared)
    found = kept(wiring)
    assert "Make it a queue" in operator.get("/review?category=spam").text
    assert "Make it a queue" not in moderator.get("/review?category=spam").text

    def queue(visitor: Visitor, name: str, **settings: str) -> int:
        return visitor.post(f"/review/filters/{found[name].id}/queue", **settings).status_code

    assert queue(operator, "Alpha", position="2") == 303
    assert queue(operator, "Beta", position="1", member=str(cast.moderator.account_id)) == 303
    assert re.findall(r"<bdi>(Alpha|Beta)</bdi></a>", moderator.get("/review").text) == ["Beta", "Alpha"]
    assert "<h2>Queues</h2>" in moderator.get("/review").text

    assert queue(operator, "Beta", position="1", member=str(cast.operator.account_id)) == 303
    assert set(links(moderator.get("/review").text)) == {"Alpha"}
    assert queue(operator, "Beta", position="") == 303
    assert set(links(moderator.get("/review").text)) == {"Alpha", "Beta"}

    assert queue(moderator, "Alpha", position="1") == 403
    assert queue(operator, "Private", position="1") == 404
    assert queue(outsider, "Alpha", position="1") == 404
    number = "Order must be a whole number from 1 to 99."
    for refused, why in (
        ({"position": "100"}, number),
        ({"position": "2x"}, number),
        ({"position": "1", "member": str(uuid.uuid4())}, "Members must moderate this community."),
    ):
        answer = operator.post(f"/review/filters/{found['Alpha'].id}/queue?category=spam", **refused)
        assert answer.status_code == 422
        assert why in answer.text
        with wiring.database.reading() as session:
            assert session.get_one(SavedFilter, found["Alpha"].id).position == 2
