"""Pump every regular expression of the source: `python -m benchmarks.regex_pumps [part/parts]`, some minutes.

Prints those that take longer than `LIMIT` on a text of at most `LONG` characters made from themselves, as file,
place, text and expression.
"""

import sys
from time import process_time

from tests.regex_pumps import expressions, pumps, slow_text

if __name__ == "__main__":
    part, parts = map(int, sys.argv[1].split("/")) if len(sys.argv) > 1 else (0, 1)
    chosen = expressions()[part::parts]
    slow = 0
    for one in chosen:
        if text := slow_text(one.compiled, one.ways):
            slow += 1
            print(f"{one.file}\t{one.place}\t{text[:120]}\t{one.pattern[:100]!r}", flush=True)
    pumped = sum(1 for one in chosen if pumps(one.compiled))
    print(
        f"{len(chosen)} expressions, {pumped} pumped, {slow} slow, {process_time():.0f} CPU seconds",
        file=sys.stderr,
    )
