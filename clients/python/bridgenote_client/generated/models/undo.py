from enum import StrEnum


class Undo(StrEnum):
    RESTORE = "restore"
    RETRACT = "retract"
    UNSILENCE = "unsilence"

    def __str__(self) -> str:
        return str(self.value)
