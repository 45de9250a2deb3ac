"""sessions know which item their moderator looks at"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0086"
down_revision = "0085"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sign_ins", sa.Column("looking_at", sa.Uuid()))
    op.add_column("sign_ins", sa.Column("looked_at", UtcDateTime()))
    op.create_index("ix_sign_ins_looking_at", "sign_ins", ["looking_at"])


def downgrade() -> None:
    op.drop_index("ix_sign_ins_looking_at", "sign_ins")
    op.drop_column("sign_ins", "looked_at")
    op.drop_column("sign_ins", "looking_at")
