from enum import StrEnum


class AttachmentState(StrEnum):
    KEPT = "kept"
    REFUSED = "refused"
    WAITING = "waiting"

    def __str__(self) -> str:
        return str(self.value)
