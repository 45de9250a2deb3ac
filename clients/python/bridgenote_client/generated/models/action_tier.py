from enum import StrEnum


class ActionTier(StrEnum):
    TIER_1_IMMEDIATE = "tier_1_immediate"
    TIER_2_CONSENSUS = "tier_2_consensus"

    def __str__(self) -> str:
        return str(self.value)
