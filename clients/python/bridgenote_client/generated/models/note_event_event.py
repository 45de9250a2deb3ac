from enum import StrEnum


class NoteEventEvent(StrEnum):
    NOTE_STATUS_CHANGED = "note.status_changed"

    def __str__(self) -> str:
        return str(self.value)
