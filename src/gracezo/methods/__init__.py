"""Optimisers: an estimator and an update, or something of their own."""
