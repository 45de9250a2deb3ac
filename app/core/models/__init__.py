"""The service's SQLAlchemy models. Columns and relationships only; verbs are in the package of their noun.

Relationships are ``lazy="raise"``: each query names what it loads, so that a template cannot start queries.
"""

from app.core.models.attachments import Attachment, MediaFile
from app.core.models.communities import Category, Community, ThresholdSet
from app.core.models.content import Note, NoteSkip, PostScores, Rating, Request, Score, Skip
from app.core.models.decisions import Action, Decision, Hold
from app.core.models.desk import (
    Attention,
    AuthorNote,
    Notice,
    Overturn,
    OverturnItem,
    ReasonTemplate,
    SavedFilter,
)
from app.core.models.factcheck import AiDraft, FactCheckItem, NoteDraft
from app.core.models.history import HistoryEntry, HistoryText, RetentionMark
from app.core.models.imports import (
    DatasetFeed,
    DatasetFeedCheck,
    DatasetImport,
    DatasetImportPiece,
    DatasetImportRow,
)
from app.core.models.insights import (
    InsightGroup,
    InsightOutcome,
    InsightSlot,
    RaterDay,
    Rollup,
)
from app.core.models.learning import LearnedCategory, LearnedModel, Learning, SampleAnswer, SampledPost
from app.core.models.panels import Panel, PanelRoll, PanelSeat
from app.core.models.people import (
    Account,
    AccountLink,
    ApiKey,
    KeyCommunity,
    LinkCode,
    Membership,
    Profile,
    Removal,
    SignIn,
)
from app.core.models.scoring import NoteSums, RaterParameters, ScoringModel, ScoringState
from app.core.models.services import (
    ConnectedService,
    RulePackDraft,
    RulePackVersion,
    ServiceDay,
    ServiceVersion,
    SlowRule,
)
from app.core.models.vectors import FactCheckVector, VectorSpace
from app.core.models.webhooks import Attempt, Delivery, Event, FormerSecret, Replay, Webhook

__all__ = [
    "Account",
    "AccountLink",
    "Action",
    "AiDraft",
    "ApiKey",
    "Attachment",
    "Attempt",
    "Attention",
    "AuthorNote",
    "Category",
    "Community",
    "ConnectedService",
    "DatasetFeed",
    "DatasetFeedCheck",
    "DatasetImport",
    "DatasetImportPiece",
    "DatasetImportRow",
    "Decision",
    "Delivery",
    "Event",
    "FactCheckItem",
    "FactCheckVector",
    "FormerSecret",
    "HistoryEntry",
    "HistoryText",
    "Hold",
    "InsightGroup",
    "InsightOutcome",
    "InsightSlot",
    "KeyCommunity",
    "LearnedCategory",
    "LearnedModel",
    "Learning",
    "LinkCode",
    "MediaFile",
    "Membership",
    "Note",
    "NoteDraft",
    "NoteSkip",
    "NoteSums",
    "Notice",
    "Overturn",
    "OverturnItem",
    "Panel",
    "PanelRoll",
    "PanelSeat",
    "PostScores",
    "Profile",
    "RaterDay",
    "RaterParameters",
    "Rating",
    "ReasonTemplate",
    "Removal",
    "Replay",
    "Request",
    "RetentionMark",
    "Rollup",
    "RulePackDraft",
    "RulePackVersion",
    "SampleAnswer",
    "SampledPost",
    "SavedFilter",
    "Score",
    "ScoringModel",
    "ScoringState",
    "ServiceDay",
    "ServiceVersion",
    "SignIn",
    "Skip",
    "SlowRule",
    "ThresholdSet",
    "VectorSpace",
    "Webhook",
]
