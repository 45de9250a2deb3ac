from enum import StrEnum


class AttachmentKind(StrEnum):
    AUDIO = "audio"
    FILE = "file"
    IMAGE = "image"
    LINK = "link"
    VIDEO = "video"

    def __str__(self) -> str:
        return str(self.value)
