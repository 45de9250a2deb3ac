"""what a community's fits found of camps, and raters' parameters for notes that act

Fits made before have neither, so every community that has a fit is fitted anew: the sweep finds it due. That fit begins
as if the community had never been tested, which presumes camps until enough ratings speak against them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("scoring_states") as table:
        table.add_column(sa.Column("camps", sa.JSON(none_as_null=True), nullable=True))
    with op.batch_alter_table("rater_parameters") as table:
        table.add_column(sa.Column("acting_intercept", sa.Float(), nullable=True))
        table.add_column(sa.Column("acting_factor", sa.Float(), nullable=True))
    states = sa.table(
        "scoring_states", sa.column("refit_due_at"), sa.column("fitted_at"), sa.column("model_version")
    )
    op.execute(
        states.update()
        .where(states.c.model_version > 0, states.c.fitted_at.is_not(None))
        .values(refit_due_at=states.c.fitted_at)
    )


def downgrade() -> None:
    with op.batch_alter_table("rater_parameters") as table:
        table.drop_column("acting_factor")
        table.drop_column("acting_intercept")
    with op.batch_alter_table("scoring_states") as table:
        table.drop_column("camps")
