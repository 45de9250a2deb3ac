from enum import StrEnum


class DeliveryState(StrEnum):
    CANCELLED = "cancelled"
    DEAD = "dead"
    DELIVERED = "delivered"
    DUE = "due"
    PARKED = "parked"

    def __str__(self) -> str:
        return str(self.value)
