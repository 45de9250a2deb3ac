"""How often votes lead to wrong actions under attack: made-up communities, attacks and three ways to decide.

Pure: arrays and seeded generators; no database, no clock. The tables of docs/develop/consensus.md come from here.
"""
