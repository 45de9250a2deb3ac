from enum import StrEnum


class Standing(StrEnum):
    DELETED = "deleted"
    HIDDEN = "hidden"
    SILENCED = "silenced"
    UP = "up"
    WARNED = "warned"

    def __str__(self) -> str:
        return str(self.value)
