"""counts of each quarter of an hour by channel and by moderator"""

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

_CHANNELS = """
INSERT INTO insight_groups (community_id, kind, slot, name, total, of_which)
SELECT actions.community_id, 'channel', {proposed}, requests.platform_channel_id, count(*),
    count(actions.overturned_at)
FROM moderation_actions AS actions
JOIN insight_rollups ON insight_rollups.community_id = actions.community_id
JOIN requests ON requests.id = actions.request_id
WHERE actions.restores_id IS NULL AND actions.action_tier IS NOT NULL AND actions.proposed_at IS NOT NULL
    AND {proposed} < insight_rollups."end"
    AND NOT requests.is_test AND requests.platform_channel_id IS NOT NULL
GROUP BY actions.community_id, {proposed}, requests.platform_channel_id
"""
_MODERATORS = """
INSERT INTO insight_groups (community_id, kind, slot, name, total, of_which, waits)
SELECT entries.community_id, 'moderator', {decided}, {account}, count(*),
    sum(CASE WHEN entries.what = 'action.dismissed' THEN CASE WHEN actions.reopened_at IS NULL THEN 0 ELSE 1 END
        WHEN actions.overturned_at IS NOT NULL OR EXISTS (
            SELECT 1 FROM history AS later
            WHERE later.object_type = 'action' AND later.object_id = entries.object_id
                AND later.number > entries.number AND later.what IN ('action.dismissed', 'action.under_review')
        ) THEN 1 ELSE 0 END),
    {waits}
FROM history AS entries
JOIN insight_rollups ON insight_rollups.community_id = entries.community_id
JOIN moderation_actions AS actions ON actions.id = entries.object_id
JOIN requests ON requests.id = actions.request_id
WHERE entries.object_type = 'action' AND entries.what IN ('action.proposed', 'action.dismissed')
    AND entries.account_id IS NOT NULL AND actions.restores_id IS NULL AND NOT requests.is_test
    AND {decided} < insight_rollups."end"
GROUP BY entries.community_id, {decided}, entries.account_id
"""


def upgrade() -> None:
    op.create_table(
        "insight_groups",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("slot", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("of_which", sa.Integer(), nullable=False),
        sa.Column("waits", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_insight_groups_community_id"),
        sa.PrimaryKeyConstraint("community_id", "kind", "slot", "name", name="pk_insight_groups"),
    )
    # What the hourly job has counted already, it does not count again for what is new.
    for statement in counted(op.get_bind().dialect.name):
        op.execute(sa.text(statement))


def downgrade() -> None:
    op.drop_table("insight_groups")


def counted(dialect: str) -> list[str]:
    """The statements that count the slots before the end of each community's roll-up."""
    is_postgresql = dialect == "postgresql"

    def seconds(column: str) -> str:
        if is_postgresql:
            return f"CAST(floor(extract(epoch FROM {column})) AS BIGINT)"
        return f"CAST(strftime('%s', substr({column}, 1, 19)) AS INTEGER)"

    wait = f"{seconds('entries.at')} - {seconds('requests.requested_at')}"
    if is_postgresql:
        account = "replace(CAST(entries.account_id AS VARCHAR), '-', '')"
        waits = f"string_agg(CAST(greatest(0, {wait}) AS VARCHAR), ',')"
    else:
        account, waits = "entries.account_id", f"group_concat(max(0, {wait}), ',')"
    return [
        text.format(
            proposed=f"{seconds('actions.proposed_at')} / 900",
            decided=f"{seconds('entries.at')} / 900",
            account=account,
            waits=waits,
        )
        for text in (_CHANNELS, _MODERATORS)
    ]
