from enum import StrEnum


class PanelEventEvent(StrEnum):
    PANEL_DRAWN = "panel.drawn"

    def __str__(self) -> str:
        return str(self.value)
