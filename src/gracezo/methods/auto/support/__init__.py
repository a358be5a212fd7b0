"""Memory: the coordinates met so far, and the kinks on them."""
