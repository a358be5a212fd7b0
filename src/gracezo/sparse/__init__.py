"""Sparse recovery: pure functions from measurements to vectors. Nothing here queries."""
