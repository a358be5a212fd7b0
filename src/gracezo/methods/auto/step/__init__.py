"""The step: a quasi-Newton path, the line search along it, and what is learned from both."""
