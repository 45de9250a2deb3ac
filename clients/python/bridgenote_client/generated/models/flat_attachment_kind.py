from enum import StrEnum


class FlatAttachmentKind(StrEnum):
    FILE = "file"
    IMAGE = "image"
    VIDEO = "video"

    def __str__(self) -> str:
        return str(self.value)
