"""A process that dies at a commit."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from app.core.db import Database


class Killed(BaseException):
    """The process is gone: nobody tidies up."""


class MortalDatabase(Database):
    """The process dies just before its ``commits``-th commit."""

    commits = 0

    @contextmanager
    def writing(self) -> Iterator[Session]:
        with super().writing() as session:
            yield session
            self.commits -= 1
            if self.commits == 0:
                raise Killed
