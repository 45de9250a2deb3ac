"""The job that makes the file with all that is kept of a person."""

import gzip
import tempfile
import uuid

from app.core.db import Database
from app.core.people import own_data_files
from app.core.upkeep import own_data


def make(database: Database, file_id: uuid.UUID) -> None:
    """Make a file that was asked for, and keep it. Killed and run again, it begins again."""
    with tempfile.TemporaryFile() as packed:
        with database.reading() as session:
            account_id = own_data_files.account_to_make_for(session, file_id)
            if account_id is None:
                return
            # A lone surrogate, which no UTF-8 can hold, is written as the escape that JSON has for it.
            with gzip.open(
                packed, "wt", compresslevel=6, encoding="utf-8", errors="backslashreplace"
            ) as file:
                counts = own_data.write(session, account_id, file)
        packed.seek(0)
        with database.writing() as session:
            own_data_files.keep(session, file_id, packed.read(), counts)
