"""What the library itself costs: time a query beyond f, and memory, from 10⁴ to 10⁸ coordinates."""
