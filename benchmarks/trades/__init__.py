"""What other trades use, beside what is here: screening, global search in a box, classifier margins."""
