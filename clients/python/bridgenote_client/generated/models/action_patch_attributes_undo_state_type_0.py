from enum import StrEnum


class ActionPatchAttributesUndoStateType0(StrEnum):
    DONE = "done"
    IMPOSSIBLE = "impossible"

    def __str__(self) -> str:
        return str(self.value)
