"""Zeroth-order optimisation in very high dimension, when few coordinates matter at a time."""
