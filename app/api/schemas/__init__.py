"""Shapes of request bodies and parameters, as pydantic models."""
