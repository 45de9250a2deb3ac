from enum import StrEnum


class ReportEventEvent(StrEnum):
    REPORT_RESOLVED = "report.resolved"

    def __str__(self) -> str:
        return str(self.value)
