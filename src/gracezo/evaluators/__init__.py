"""Evaluators: what answers an ask. The only code that calls the objective."""
