from enum import StrEnum


class ReviewGroup(StrEnum):
    COMMUNITY = "community"
    STAFF = "staff"
    TRUSTED = "trusted"

    def __str__(self) -> str:
        return str(self.value)
