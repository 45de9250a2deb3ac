from enum import StrEnum


class ReviewEventEvent(StrEnum):
    REVIEW_OPENED = "review.opened"

    def __str__(self) -> str:
        return str(self.value)
