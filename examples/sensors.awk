#!/usr/bin/awk -f
# An objective that is not Python: reads one number a line, prints one number.
# Of the 1,000 settings of an instrument, four matter.
BEGIN { best[120] = 0.4; best[380] = -1.2; best[610] = 0.8; best[870] = 1.5 }
{
    if (NR in best) sum += ($1 - best[NR]) ^ 2
    else            sum += 0.001 * $1 ^ 2
}
END { printf "%.17g\n", sum }  # all digits: small differences are what a search lives on
