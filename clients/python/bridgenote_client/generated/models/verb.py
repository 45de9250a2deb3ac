from enum import StrEnum


class Verb(StrEnum):
    DELETE = "delete"
    FLAG = "flag"
    HIDE = "hide"
    NOTIFY = "notify"

    def __str__(self) -> str:
        return str(self.value)
