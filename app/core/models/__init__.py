"""The service's SQLAlchemy models. Columns and relationships only; verbs are in the package of their noun.

Relationships are ``lazy="raise"``: each query names what it loads, so that a template cannot start queries.
"""

from app.core.models.communities import Category, Community, ThresholdSet
from app.core.models.content import Attachment, MediaFile, PostScores, Request, Score
from app.core.models.decisions import Action, Decision, Hold, Strike
from app.core.models.desk import (
    Attention,
    AuthorNote,
    Notice,
    Overturn,
    OverturnItem,
    ReasonTemplate,
    SavedFilter,
)
from app.core.models.factcheck import (
    AiDraft,
    DatasetFeed,
    DatasetFeedCheck,
    DatasetImport,
    DatasetImportPiece,
    DatasetImportRow,
    FactCheckItem,
    FactCheckVector,
    NoteDraft,
    VectorSpace,
)
from app.core.models.history import HistoryEntry, HistoryText, RetentionMark
from app.core.models.identity import (
    GroupRole,
    Identity,
    IdentityProvider,
    Passkey,
    ProviderGroup,
    ProviderGroupMember,
    RecoveryCode,
    SignInRules,
    SignInStep,
)
from app.core.models.insights import (
    InsightGroup,
    InsightOutcome,
    InsightSlot,
    RaterDay,
    Rollup,
)
from app.core.models.notes import (
    Note,
    NoteSkip,
    NoteSums,
    RaterParameters,
    Rating,
    ScoringModel,
    ScoringState,
    Skip,
)
from app.core.models.panels import Panel, PanelRoll, PanelSeat
from app.core.models.people import (
    Account,
    AccountLink,
    ApiKey,
    KeyCommunity,
    LinkCode,
    Membership,
    OwnDataFile,
    Profile,
    Removal,
    SignIn,
)
from app.core.models.reports import MutedReporter, Report
from app.core.models.services import (
    ConnectedService,
    LearnedCategory,
    LearnedModel,
    Learning,
    RulePackDraft,
    RulePackVersion,
    SampleAnswer,
    SampledPost,
    ServiceDay,
    ServiceVersion,
    SlowRule,
)
from app.core.models.waves import PostFacts, PostMark, Wave
from app.core.models.webhooks import Attempt, Delivery, Event, FormerSecret, Replay, Webhook
