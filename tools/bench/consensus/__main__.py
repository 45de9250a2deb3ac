"""``make simulate-consensus``, or ``python -m tools.bench.consensus`` with its options."""

import os

# Before NumPy is loaded: several threads inside of one calculation only fight over the cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tools.bench.consensus.command import simulate_consensus

simulate_consensus(prog_name="make simulate-consensus OPTIONS=")
