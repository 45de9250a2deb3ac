"""Security events: log lines of their own, for the operator's alerts (docs/run/security-events.md).

Each is one line of the logger ``bridgenote.security`` whose ``event`` is one of these names. Fields are ids, roles,
numbers and IP addresses: never a password, token, key, e-mail address or content.
"""

import logging
from enum import StrEnum
from typing import Any

from sqlalchemy.orm import Session

from app.core.permissions import Actor

LOGGER = "bridgenote.security"
FIELDS = "security_fields"
"""Attribute of a log record that holds the fields; ``process.logs`` adds them to the line."""
_WAITING = "security_events"


class SecurityEvent(StrEnum):
    """The events. A dotted noun and past tense, as in history."""

    SIGNED_IN = "sign_in.succeeded"
    SIGN_IN_FAILED = "sign_in.failed"
    SIGN_IN_FAILED_OFTEN = "sign_in.failed_often"
    NEW_DEVICE = "sign_in.new_device"
    PROVED_AGAIN = "sign_in.proved_again"
    THROTTLED = "request.throttled"
    CROSS_SITE = "request.cross_site"
    FORBIDDEN = "request.forbidden"
    PASSWORD_CHANGED = "password.changed"  # noqa: S105 - the name of an event
    EMAIL_CHANGED = "email.changed"
    ROLE_CHANGED = "role.changed"
    LAST_ADMIN_KEPT = "role.last_admin_kept"
    SERVICE_ADMIN_MADE = "service_admin.made"
    GROUPS_MAPPED = "groups.mapped"
    FACTOR_ADDED = "factor.added"
    FACTOR_REMOVED = "factor.removed"
    FACTORS_RESET = "factors.reset"
    PASSKEY_REFUSED = "passkey.refused"
    RECOVERY_CODES_MADE = "recovery_codes.made"
    RECOVERY_CODE_USED = "recovery_code.used"
    PROVIDER_ADDED = "provider.added"
    PROVIDER_CHANGED = "provider.changed"
    PROVIDER_ENABLED = "provider.enabled"
    PROVIDER_DISABLED = "provider.disabled"
    PROVIDER_REMOVED = "provider.removed"
    PROVIDER_REFUSED = "provider.refused"
    PROVIDER_ENDED = "provider.ended_sessions"
    IDENTITY_CONNECTED = "identity.connected"
    IDENTITY_DISCONNECTED = "identity.disconnected"
    PASSWORDS_SWITCHED = "passwords.switched"
    SIGN_IN_LINK_MADE = "sign_in_link.made"
    FACTOR_RULE_CHANGED = "factor_rule.changed"
    KEY_CREATED = "key.created"
    KEY_REVOKED = "key.revoked"
    KEY_REFUSED = "key.refused"
    SCIM_KEY_CREATED = "scim_key.created"
    SCIM_KEY_REMOVED = "scim_key.removed"
    ACCOUNT_PROVISIONED = "account.provisioned"
    ACCOUNT_DISABLED = "account.disabled"
    ACCOUNT_ENABLED = "account.enabled"
    ACCOUNT_ERASED = "account.erased"
    RESTORED = "backup.restored"
    ENCRYPTION_KEY_ROTATED = "encryption_key.rotated"


_ALARMS = frozenset(
    {
        SecurityEvent.SIGN_IN_FAILED_OFTEN,
        SecurityEvent.SERVICE_ADMIN_MADE,
        SecurityEvent.LAST_ADMIN_KEPT,
        SecurityEvent.FACTORS_RESET,
        SecurityEvent.PASSKEY_REFUSED,
        SecurityEvent.PASSWORDS_SWITCHED,
        SecurityEvent.SIGN_IN_LINK_MADE,
        SecurityEvent.RESTORED,
        SecurityEvent.ENCRYPTION_KEY_ROTATED,
    }
)
"""Logged as warnings; the others only matter in numbers, or when they are unexpected."""


def log(event: SecurityEvent, **fields: Any) -> None:
    """Log an event now."""
    level = logging.WARNING if event in _ALARMS else logging.INFO
    logging.getLogger(LOGGER).log(level, event.value, extra={FIELDS: fields})


def log_at_commit(session: Session, event: SecurityEvent, actor: Actor | None = None, **fields: Any) -> None:
    """Log an event once this transaction commits; a rollback forgets it. ``actor``: who caused it."""
    if actor is not None:
        ids = {"account_id": actor.account_id, "key_id": actor.key_id}
        fields = {"actor": actor.kind, **{f"actor_{k}": v for k, v in ids.items() if v is not None}, **fields}
    session.info.setdefault(_WAITING, []).append((event, fields))


def log_committed(session: Session) -> None:
    """Log the events of a session whose transaction has committed."""
    for event, fields in session.info.pop(_WAITING, []):
        log(event, **fields)
