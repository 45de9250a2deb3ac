from enum import StrEnum


class ReportState(StrEnum):
    OPEN = "open"
    REJECTED = "rejected"
    UNDECIDED = "undecided"
    UPHELD = "upheld"
    WITHDRAWN = "withdrawn"

    def __str__(self) -> str:
        return str(self.value)
