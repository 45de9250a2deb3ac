from enum import StrEnum


class UndoState(StrEnum):
    DONE = "done"
    IMPOSSIBLE = "impossible"
    PROPOSED = "proposed"

    def __str__(self) -> str:
        return str(self.value)
