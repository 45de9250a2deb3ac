from enum import StrEnum


class NoteStatus(StrEnum):
    CURRENTLY_RATED_HELPFUL = "CURRENTLY_RATED_HELPFUL"
    CURRENTLY_RATED_NOT_HELPFUL = "CURRENTLY_RATED_NOT_HELPFUL"
    NEEDS_MORE_RATINGS = "NEEDS_MORE_RATINGS"

    def __str__(self) -> str:
        return str(self.value)
