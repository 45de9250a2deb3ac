"""sessions know when their person was last here before this visit"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0084"
down_revision = "0083"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sign_ins", sa.Column("last_visit_at", UtcDateTime()))


def downgrade() -> None:
    op.drop_column("sign_ins", "last_visit_at")
