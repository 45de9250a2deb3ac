from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define

from ..models.action_state import ActionState
from ..models.action_tier import ActionTier
from ..models.action_type import ActionType
from ..models.review_group import ReviewGroup
from ..models.undo import Undo
from ..models.undo_state import UndoState

if TYPE_CHECKING:
    from ..models.evidence import Evidence


T = TypeVar("T", bound="ActionAttributes")


@_attrs_define
class ActionAttributes:
    """Every member is always present, null while unknown. `request_id` is the integration's own string.

    Attributes:
        request_id (str): The integration's own id of the post; the key of idempotency within the community.
        community_server_id (UUID): The community, by our UUID.
        action_type (ActionType): What the integration does on its platform.
        action_tier (ActionTier | None): Whether a score acted at once or people were asked; null if neither.
        action_state (ActionState): How far an action is. `proposed`: the integration is to carry it out, and answers
            with `applied`.

            `under_review` and `retro_review` (a second look) ask people. `confirmed`, `overturned`, `dismissed` and
            `scan_exempt` end it.
        review_group (None | ReviewGroup): Who reviews it; null if nobody is asked.
        classifier_evidence (Evidence | None): The scores that it was opened for; null if there are none.
        note_id (None | UUID): The note that raters rate about it, by our UUID; null if there is none.
        question (None | str): What people are asked while the action is under review, such as `Should this post be
            hidden?`; else null. They answer by rating the note of `note_id`: HELPFUL means yes, act; NOT_HELPFUL means no,
            keep.
        platform_action_id (None | str): The platform's own id of what it did; null until it was sent.
        applied_at (datetime.datetime | None): When the integration acknowledged or recorded it; null before.
        confirmed_at (datetime.datetime | None): When a second look confirmed it; null before.
        overturned_at (datetime.datetime | None): When it was overturned; null before.
        overturned_reason (None | str): Why it was overturned, in words; null if nobody said.
        reason (None | str): Why it was taken, in words. Of a `warn` or `silence` that a moderator chose: the text for
            the author. Null if nobody said.
        category (None | str): The category that it is filed under: a moderator's choice, or else that of the score.
        author_text (None | str): What to tell the author of the post, with a `warn` or a `silence` that the service
            proposed. With a `warn` it is the moderator's text, or else the community's for the category, or else a shipped
            one.
        undo (None | Undo): What to undo on the platform once the action is overturned: `restore` a deleted post,
            `unsilence` its author, `retract` a warning. Null for a `hide`: an `unhide` action of its own undoes it.
        undo_state (None | UndoState): `proposed` until the integration answers with PATCH that it is `done`, or
            `impossible` on its platform; null while there is nothing to undo.
        until (datetime.datetime | None): When a `silence` ends; null if it has no end, and with other types.
        ended_at (datetime.datetime | None): When the service said that the silence ended, or staff lifted it; null
            before. The state stays.
        scan_exempt_content_hash (None | str): SHA-256, 64 hex digits, of the content that is not acted on again; null
            if none is exempt.
        created_at (datetime.datetime): When this was stored here.
        updated_at (datetime.datetime): When this last changed here.
    """

    request_id: str
    community_server_id: UUID
    action_type: ActionType
    action_tier: ActionTier | None
    action_state: ActionState
    review_group: None | ReviewGroup
    classifier_evidence: Evidence | None
    note_id: None | UUID
    question: None | str
    platform_action_id: None | str
    applied_at: datetime.datetime | None
    confirmed_at: datetime.datetime | None
    overturned_at: datetime.datetime | None
    overturned_reason: None | str
    reason: None | str
    category: None | str
    author_text: None | str
    undo: None | Undo
    undo_state: None | UndoState
    until: datetime.datetime | None
    ended_at: datetime.datetime | None
    scan_exempt_content_hash: None | str
    created_at: datetime.datetime
    updated_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        from ..models.evidence import Evidence

        request_id = self.request_id

        community_server_id = str(self.community_server_id)

        action_type = self.action_type.value

        action_tier: None | str
        if isinstance(self.action_tier, ActionTier):
            action_tier = self.action_tier.value
        else:
            action_tier = self.action_tier

        action_state = self.action_state.value

        review_group: None | str
        if isinstance(self.review_group, ReviewGroup):
            review_group = self.review_group.value
        else:
            review_group = self.review_group

        classifier_evidence: dict[str, Any] | None
        if isinstance(self.classifier_evidence, Evidence):
            classifier_evidence = self.classifier_evidence.to_dict()
        else:
            classifier_evidence = self.classifier_evidence

        note_id: None | str
        if isinstance(self.note_id, UUID):
            note_id = str(self.note_id)
        else:
            note_id = self.note_id

        question: None | str
        question = self.question

        platform_action_id: None | str
        platform_action_id = self.platform_action_id

        applied_at: None | str
        if isinstance(self.applied_at, datetime.datetime):
            applied_at = self.applied_at.isoformat()
        else:
            applied_at = self.applied_at

        confirmed_at: None | str
        if isinstance(self.confirmed_at, datetime.datetime):
            confirmed_at = self.confirmed_at.isoformat()
        else:
            confirmed_at = self.confirmed_at

        overturned_at: None | str
        if isinstance(self.overturned_at, datetime.datetime):
            overturned_at = self.overturned_at.isoformat()
        else:
            overturned_at = self.overturned_at

        overturned_reason: None | str
        overturned_reason = self.overturned_reason

        reason: None | str
        reason = self.reason

        category: None | str
        category = self.category

        author_text: None | str
        author_text = self.author_text

        undo: None | str
        if isinstance(self.undo, Undo):
            undo = self.undo.value
        else:
            undo = self.undo

        undo_state: None | str
        if isinstance(self.undo_state, UndoState):
            undo_state = self.undo_state.value
        else:
            undo_state = self.undo_state

        until: None | str
        if isinstance(self.until, datetime.datetime):
            until = self.until.isoformat()
        else:
            until = self.until

        ended_at: None | str
        if isinstance(self.ended_at, datetime.datetime):
            ended_at = self.ended_at.isoformat()
        else:
            ended_at = self.ended_at

        scan_exempt_content_hash: None | str
        scan_exempt_content_hash = self.scan_exempt_content_hash

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "request_id": request_id,
                "community_server_id": community_server_id,
                "action_type": action_type,
                "action_tier": action_tier,
                "action_state": action_state,
                "review_group": review_group,
                "classifier_evidence": classifier_evidence,
                "note_id": note_id,
                "question": question,
                "platform_action_id": platform_action_id,
                "applied_at": applied_at,
                "confirmed_at": confirmed_at,
                "overturned_at": overturned_at,
                "overturned_reason": overturned_reason,
                "reason": reason,
                "category": category,
                "author_text": author_text,
                "undo": undo,
                "undo_state": undo_state,
                "until": until,
                "ended_at": ended_at,
                "scan_exempt_content_hash": scan_exempt_content_hash,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.evidence import Evidence

        d = dict(src_dict)
        request_id = d.pop("request_id")

        community_server_id = UUID(d.pop("community_server_id"))

        action_type = ActionType(d.pop("action_type"))

        def _parse_action_tier(data: object) -> ActionTier | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                action_tier_type_0 = ActionTier(data)

                return action_tier_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ActionTier | None, data)

        action_tier = _parse_action_tier(d.pop("action_tier"))

        action_state = ActionState(d.pop("action_state"))

        def _parse_review_group(data: object) -> None | ReviewGroup:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                review_group_type_0 = ReviewGroup(data)

                return review_group_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReviewGroup, data)

        review_group = _parse_review_group(d.pop("review_group"))

        def _parse_classifier_evidence(data: object) -> Evidence | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                classifier_evidence_type_0 = Evidence.from_dict(data)

                return classifier_evidence_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Evidence | None, data)

        classifier_evidence = _parse_classifier_evidence(d.pop("classifier_evidence"))

        def _parse_note_id(data: object) -> None | UUID:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                note_id_type_0 = UUID(data)

                return note_id_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UUID, data)

        note_id = _parse_note_id(d.pop("note_id"))

        def _parse_question(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        question = _parse_question(d.pop("question"))

        def _parse_platform_action_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        platform_action_id = _parse_platform_action_id(d.pop("platform_action_id"))

        def _parse_applied_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                applied_at_type_0 = datetime.datetime.fromisoformat(data)

                return applied_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        applied_at = _parse_applied_at(d.pop("applied_at"))

        def _parse_confirmed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                confirmed_at_type_0 = datetime.datetime.fromisoformat(data)

                return confirmed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        confirmed_at = _parse_confirmed_at(d.pop("confirmed_at"))

        def _parse_overturned_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                overturned_at_type_0 = datetime.datetime.fromisoformat(data)

                return overturned_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        overturned_at = _parse_overturned_at(d.pop("overturned_at"))

        def _parse_overturned_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        overturned_reason = _parse_overturned_reason(d.pop("overturned_reason"))

        def _parse_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reason = _parse_reason(d.pop("reason"))

        def _parse_category(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        category = _parse_category(d.pop("category"))

        def _parse_author_text(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        author_text = _parse_author_text(d.pop("author_text"))

        def _parse_undo(data: object) -> None | Undo:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                undo_type_0 = Undo(data)

                return undo_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Undo, data)

        undo = _parse_undo(d.pop("undo"))

        def _parse_undo_state(data: object) -> None | UndoState:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                undo_state_type_0 = UndoState(data)

                return undo_state_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UndoState, data)

        undo_state = _parse_undo_state(d.pop("undo_state"))

        def _parse_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                until_type_0 = datetime.datetime.fromisoformat(data)

                return until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        until = _parse_until(d.pop("until"))

        def _parse_ended_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ended_at_type_0 = datetime.datetime.fromisoformat(data)

                return ended_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        ended_at = _parse_ended_at(d.pop("ended_at"))

        def _parse_scan_exempt_content_hash(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        scan_exempt_content_hash = _parse_scan_exempt_content_hash(
            d.pop("scan_exempt_content_hash")
        )

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        action_attributes = cls(
            request_id=request_id,
            community_server_id=community_server_id,
            action_type=action_type,
            action_tier=action_tier,
            action_state=action_state,
            review_group=review_group,
            classifier_evidence=classifier_evidence,
            note_id=note_id,
            question=question,
            platform_action_id=platform_action_id,
            applied_at=applied_at,
            confirmed_at=confirmed_at,
            overturned_at=overturned_at,
            overturned_reason=overturned_reason,
            reason=reason,
            category=category,
            author_text=author_text,
            undo=undo,
            undo_state=undo_state,
            until=until,
            ended_at=ended_at,
            scan_exempt_content_hash=scan_exempt_content_hash,
            created_at=created_at,
            updated_at=updated_at,
        )

        return action_attributes
