"""`auto`: the fewest queries, with nothing to tune. One run of it is in `method.py`."""
