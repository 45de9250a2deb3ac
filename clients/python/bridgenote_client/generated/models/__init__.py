"""Contains all the data models used in inputs/outputs"""

from .action_attributes import ActionAttributes
from .action_create_attributes import ActionCreateAttributes
from .action_create_document import ActionCreateDocument
from .action_create_resource import ActionCreateResource
from .action_event import ActionEvent
from .action_event_event import ActionEventEvent
from .action_event_subject import ActionEventSubject
from .action_patch_attributes import ActionPatchAttributes
from .action_patch_attributes_undo_state_type_0 import (
    ActionPatchAttributesUndoStateType0,
)
from .action_patch_document import ActionPatchDocument
from .action_patch_resource import ActionPatchResource
from .action_state import ActionState
from .action_tier import ActionTier
from .action_type import ActionType
from .activity import Activity
from .attachment_create import AttachmentCreate
from .attachment_kind import AttachmentKind
from .attachment_refusal import AttachmentRefusal
from .attachment_shown import AttachmentShown
from .attachment_state import AttachmentState
from .attention_event import AttentionEvent
from .attention_event_event import AttentionEventEvent
from .attention_event_subject import AttentionEventSubject
from .attention_event_subject_reason import AttentionEventSubjectReason
from .author_standing_document import AuthorStandingDocument
from .author_standing_resource import AuthorStandingResource
from .batch_meta import BatchMeta
from .batch_refusal import BatchRefusal
from .category_shown import CategoryShown
from .classification import Classification
from .classifier_evidence import ClassifierEvidence
from .community_attributes import CommunityAttributes
from .community_create import CommunityCreate
from .community_name import CommunityName
from .community_server_document import CommunityServerDocument
from .community_server_resource import CommunityServerResource
from .completed_event import CompletedEvent
from .completed_event_event import CompletedEventEvent
from .completed_event_subject import CompletedEventSubject
from .completed_event_subject_decision_type_1 import CompletedEventSubjectDecisionType1
from .completed_event_subject_decision_type_2_type_1 import (
    CompletedEventSubjectDecisionType2Type1,
)
from .completed_event_subject_decision_type_3_type_1 import (
    CompletedEventSubjectDecisionType3Type1,
)
from .consensus import Consensus
from .decision_event import DecisionEvent
from .decision_event_decision import DecisionEventDecision
from .decision_event_event_type import DecisionEventEventType
from .decision_event_tier import DecisionEventTier
from .decision_tier import DecisionTier
from .decision_word import DecisionWord
from .delivery_attributes import DeliveryAttributes
from .delivery_state import DeliveryState
from .error_document import ErrorDocument
from .event_name import EventName
from .evidence import Evidence
from .evidence_scores import EvidenceScores
from .flat_attachment_kind import FlatAttachmentKind
from .flat_community import FlatCommunity
from .header_boolean import HeaderBoolean
from .helpfulness_level import HelpfulnessLevel
from .json_api_version import JsonApiVersion
from .json_object import JsonObject
from .links import Links
from .list_deliveries_filterevent import ListDeliveriesFilterevent
from .lower_status import LowerStatus
from .moderation_action_document import ModerationActionDocument
from .moderation_action_list import ModerationActionList
from .moderation_action_resource import ModerationActionResource
from .note_attributes import NoteAttributes
from .note_create import NoteCreate
from .note_create_attributes import NoteCreateAttributes
from .note_create_resource import NoteCreateResource
from .note_document import NoteDocument
from .note_edit import NoteEdit
from .note_edit_attributes import NoteEditAttributes
from .note_edit_resource import NoteEditResource
from .note_event import NoteEvent
from .note_event_event import NoteEventEvent
from .note_event_subject import NoteEventSubject
from .note_kind import NoteKind
from .note_list import NoteList
from .note_resource import NoteResource
from .note_status import NoteStatus
from .note_verdict_attributes import NoteVerdictAttributes
from .note_verdict_document import NoteVerdictDocument
from .note_verdict_resource import NoteVerdictResource
from .open_action import OpenAction
from .open_api import OpenApi
from .page_links import PageLinks
from .page_meta import PageMeta
from .panel_counts import PanelCounts
from .panel_event import PanelEvent
from .panel_event_event import PanelEventEvent
from .panel_event_subject import PanelEventSubject
from .profile_attributes import ProfileAttributes
from .profile_link_attributes import ProfileLinkAttributes
from .profile_link_document import ProfileLinkDocument
from .profile_link_resource import ProfileLinkResource
from .rating_attributes import RatingAttributes
from .rating_create import RatingCreate
from .rating_create_attributes import RatingCreateAttributes
from .rating_create_resource import RatingCreateResource
from .rating_document import RatingDocument
from .rating_edit import RatingEdit
from .rating_edit_attributes import RatingEditAttributes
from .rating_edit_resource import RatingEditResource
from .rating_list import RatingList
from .rating_resource import RatingResource
from .rating_stats_document import RatingStatsDocument
from .rating_stats_resource import RatingStatsResource
from .rating_thresholds import RatingThresholds
from .replay_attributes import ReplayAttributes
from .replay_attributes_states_item import ReplayAttributesStatesItem
from .report_attributes import ReportAttributes
from .report_create import ReportCreate
from .report_create_attributes import ReportCreateAttributes
from .report_create_resource import ReportCreateResource
from .report_document import ReportDocument
from .report_event import ReportEvent
from .report_event_event import ReportEventEvent
from .report_event_subject import ReportEventSubject
from .report_event_subject_outcome import ReportEventSubjectOutcome
from .report_list import ReportList
from .report_origin import ReportOrigin
from .report_outcome import ReportOutcome
from .report_patch_attributes import ReportPatchAttributes
from .report_patch_document import ReportPatchDocument
from .report_patch_resource import ReportPatchResource
from .report_resource import ReportResource
from .report_state import ReportState
from .request_attributes import RequestAttributes
from .request_batch import RequestBatch
from .request_batch_answers import RequestBatchAnswers
from .request_batch_resource import RequestBatchResource
from .request_create import RequestCreate
from .request_create_attributes import RequestCreateAttributes
from .request_create_resource import RequestCreateResource
from .request_document import RequestDocument
from .request_list import RequestList
from .request_patch_attributes import RequestPatchAttributes
from .request_patch_document import RequestPatchDocument
from .request_patch_resource import RequestPatchResource
from .request_resource import RequestResource
from .request_status import RequestStatus
from .review_event import ReviewEvent
from .review_event_event import ReviewEventEvent
from .review_event_subject import ReviewEventSubject
from .review_group import ReviewGroup
from .reviewer import Reviewer
from .scored_passage import ScoredPassage
from .scores_attributes import ScoresAttributes
from .scores_create import ScoresCreate
from .scores_create_attributes import ScoresCreateAttributes
from .scores_create_resource import ScoresCreateResource
from .scores_document import ScoresDocument
from .scores_resource import ScoresResource
from .scoring_analysis import ScoringAnalysis
from .scoring_analysis_classification import ScoringAnalysisClassification
from .shown_strike import ShownStrike
from .standing import Standing
from .standing_attributes import StandingAttributes
from .stats_attributes import StatsAttributes
from .test_event import TestEvent
from .test_event_data import TestEventData
from .test_event_event import TestEventEvent
from .text_category_score import TextCategoryScore
from .text_result import TextResult
from .undo import Undo
from .undo_state import UndoState
from .user_profile_document import UserProfileDocument
from .user_profile_resource import UserProfileResource
from .validation_error_document import ValidationErrorDocument
from .validation_problem import ValidationProblem
from .verb import Verb
from .webhook_attributes import WebhookAttributes
from .webhook_delivery_list import WebhookDeliveryList
from .webhook_delivery_resource import WebhookDeliveryResource
from .webhook_document import WebhookDocument
from .webhook_list import WebhookList
from .webhook_patch_attributes import WebhookPatchAttributes
from .webhook_patch_document import WebhookPatchDocument
from .webhook_patch_resource import WebhookPatchResource
from .webhook_registration_attributes import WebhookRegistrationAttributes
from .webhook_registration_document import WebhookRegistrationDocument
from .webhook_registration_resource import WebhookRegistrationResource
from .webhook_replay_attributes import WebhookReplayAttributes
from .webhook_replay_attributes_states_item import WebhookReplayAttributesStatesItem
from .webhook_replay_document import WebhookReplayDocument
from .webhook_replay_resource import WebhookReplayResource
from .webhook_replay_run_document import WebhookReplayRunDocument
from .webhook_replay_run_resource import WebhookReplayRunResource
from .webhook_resource import WebhookResource

__all__ = (
    "ActionAttributes",
    "ActionCreateAttributes",
    "ActionCreateDocument",
    "ActionCreateResource",
    "ActionEvent",
    "ActionEventEvent",
    "ActionEventSubject",
    "ActionPatchAttributes",
    "ActionPatchAttributesUndoStateType0",
    "ActionPatchDocument",
    "ActionPatchResource",
    "ActionState",
    "ActionTier",
    "ActionType",
    "Activity",
    "AttachmentCreate",
    "AttachmentKind",
    "AttachmentRefusal",
    "AttachmentShown",
    "AttachmentState",
    "AttentionEvent",
    "AttentionEventEvent",
    "AttentionEventSubject",
    "AttentionEventSubjectReason",
    "AuthorStandingDocument",
    "AuthorStandingResource",
    "BatchMeta",
    "BatchRefusal",
    "CategoryShown",
    "Classification",
    "ClassifierEvidence",
    "CommunityAttributes",
    "CommunityCreate",
    "CommunityName",
    "CommunityServerDocument",
    "CommunityServerResource",
    "CompletedEvent",
    "CompletedEventEvent",
    "CompletedEventSubject",
    "CompletedEventSubjectDecisionType1",
    "CompletedEventSubjectDecisionType2Type1",
    "CompletedEventSubjectDecisionType3Type1",
    "Consensus",
    "DecisionEvent",
    "DecisionEventDecision",
    "DecisionEventEventType",
    "DecisionEventTier",
    "DecisionTier",
    "DecisionWord",
    "DeliveryAttributes",
    "DeliveryState",
    "ErrorDocument",
    "EventName",
    "Evidence",
    "EvidenceScores",
    "FlatAttachmentKind",
    "FlatCommunity",
    "HeaderBoolean",
    "HelpfulnessLevel",
    "JsonApiVersion",
    "JsonObject",
    "Links",
    "ListDeliveriesFilterevent",
    "LowerStatus",
    "ModerationActionDocument",
    "ModerationActionList",
    "ModerationActionResource",
    "NoteAttributes",
    "NoteCreate",
    "NoteCreateAttributes",
    "NoteCreateResource",
    "NoteDocument",
    "NoteEdit",
    "NoteEditAttributes",
    "NoteEditResource",
    "NoteEvent",
    "NoteEventEvent",
    "NoteEventSubject",
    "NoteKind",
    "NoteList",
    "NoteResource",
    "NoteStatus",
    "NoteVerdictAttributes",
    "NoteVerdictDocument",
    "NoteVerdictResource",
    "OpenAction",
    "OpenApi",
    "PageLinks",
    "PageMeta",
    "PanelCounts",
    "PanelEvent",
    "PanelEventEvent",
    "PanelEventSubject",
    "ProfileAttributes",
    "ProfileLinkAttributes",
    "ProfileLinkDocument",
    "ProfileLinkResource",
    "RatingAttributes",
    "RatingCreate",
    "RatingCreateAttributes",
    "RatingCreateResource",
    "RatingDocument",
    "RatingEdit",
    "RatingEditAttributes",
    "RatingEditResource",
    "RatingList",
    "RatingResource",
    "RatingStatsDocument",
    "RatingStatsResource",
    "RatingThresholds",
    "ReplayAttributes",
    "ReplayAttributesStatesItem",
    "ReportAttributes",
    "ReportCreate",
    "ReportCreateAttributes",
    "ReportCreateResource",
    "ReportDocument",
    "ReportEvent",
    "ReportEventEvent",
    "ReportEventSubject",
    "ReportEventSubjectOutcome",
    "ReportList",
    "ReportOrigin",
    "ReportOutcome",
    "ReportPatchAttributes",
    "ReportPatchDocument",
    "ReportPatchResource",
    "ReportResource",
    "ReportState",
    "RequestAttributes",
    "RequestBatch",
    "RequestBatchAnswers",
    "RequestBatchResource",
    "RequestCreate",
    "RequestCreateAttributes",
    "RequestCreateResource",
    "RequestDocument",
    "RequestList",
    "RequestPatchAttributes",
    "RequestPatchDocument",
    "RequestPatchResource",
    "RequestResource",
    "RequestStatus",
    "ReviewEvent",
    "ReviewEventEvent",
    "ReviewEventSubject",
    "ReviewGroup",
    "Reviewer",
    "ScoredPassage",
    "ScoresAttributes",
    "ScoresCreate",
    "ScoresCreateAttributes",
    "ScoresCreateResource",
    "ScoresDocument",
    "ScoresResource",
    "ScoringAnalysis",
    "ScoringAnalysisClassification",
    "ShownStrike",
    "Standing",
    "StandingAttributes",
    "StatsAttributes",
    "TestEvent",
    "TestEventData",
    "TestEventEvent",
    "TextCategoryScore",
    "TextResult",
    "Undo",
    "UndoState",
    "UserProfileDocument",
    "UserProfileResource",
    "ValidationErrorDocument",
    "ValidationProblem",
    "Verb",
    "WebhookAttributes",
    "WebhookDeliveryList",
    "WebhookDeliveryResource",
    "WebhookDocument",
    "WebhookList",
    "WebhookPatchAttributes",
    "WebhookPatchDocument",
    "WebhookPatchResource",
    "WebhookRegistrationAttributes",
    "WebhookRegistrationDocument",
    "WebhookRegistrationResource",
    "WebhookReplayAttributes",
    "WebhookReplayAttributesStatesItem",
    "WebhookReplayDocument",
    "WebhookReplayResource",
    "WebhookReplayRunDocument",
    "WebhookReplayRunResource",
    "WebhookResource",
)
