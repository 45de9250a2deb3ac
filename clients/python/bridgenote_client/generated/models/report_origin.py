from enum import StrEnum


class ReportOrigin(StrEnum):
    AUTHOR = "author"
    DASHBOARD = "dashboard"
    ELSEWHERE = "elsewhere"
    PLATFORM = "platform"

    def __str__(self) -> str:
        return str(self.value)
