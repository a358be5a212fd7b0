"""Functions with many outputs: their Jacobian, and least squares."""
