from enum import StrEnum


class AttachmentRefusal(StrEnum):
    BAD_ADDRESS = "bad_address"
    DAMAGED = "damaged"
    NOT_FOUND = "not_found"
    NOT_STORED = "not_stored"
    TOO_LARGE = "too_large"
    TOO_MANY_PIXELS = "too_many_pixels"
    TOO_SLOW = "too_slow"
    UNREACHABLE = "unreachable"
    UNSUPPORTED = "unsupported"
    WRONG_TYPE = "wrong_type"

    def __str__(self) -> str:
        return str(self.value)
