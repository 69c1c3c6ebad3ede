"""Pump every regular expression of the source: `python -m benchmarks.regex_pumps [characters]`, some minutes.

Lists those that take longer than 15 ms on a text of 2,500 characters made from themselves: most of them grow with
the square of the text.
"""

import sys

from tests.regex_pumps import expressions, slow_text

if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 2500
    for one in expressions():
        if text := slow_text(one.compiled, one.ways, limit=0.015, size=size):
            print(f"{one.place}: {text[:120]}: {one.pattern[:100]!r}", flush=True)
