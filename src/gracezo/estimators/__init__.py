"""Gradient estimators, one file each. They ask; they never meet the objective."""
