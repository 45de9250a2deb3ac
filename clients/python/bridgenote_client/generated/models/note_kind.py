from enum import StrEnum


class NoteKind(StrEnum):
    NOTE = "note"
    RATIONALE = "rationale"

    def __str__(self) -> str:
        return str(self.value)
