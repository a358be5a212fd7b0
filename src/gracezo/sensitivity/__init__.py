"""Which coordinates matter: effects at one point, or over a box."""
