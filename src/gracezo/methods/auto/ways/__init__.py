"""The ways down: the market that chooses among them, and one file each. The sparse one is `hunt.py`."""
