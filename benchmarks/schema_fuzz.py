"""Attack the verdicts of the schema comparison with random values, through an independent validator.

python benchmarks/schema_fuzz.py --pairs 20000

Ends with 1 when one claim was refuted; prints that pair and the value.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.unit.contract.inclusion.random_schemas import attack

EVERY = 1_000


def main() -> None:
    """Run the attack and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--values", type=int, default=60, help="values per pair")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    verdicts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    refuted = slowest = 0.0
    began = time.perf_counter()
    for number in range(options.pairs):
        start = time.perf_counter()
        old, new, verdict, found = attack(options.seed + number, options.values)
        slowest = max(slowest, time.perf_counter() - start)
        verdicts[verdict.effect.value] += 1
        reasons[verdict.reason_unknown[:60]] += verdict.effect.value == "unknown"
        if found is not None:
            refuted += 1
            print(f"REFUTED seed {options.seed + number}: {old} -> {new}: {verdict.effect.value}: {found[0]!r}")
        if (number + 1) % EVERY == 0:
            print(f"  {number + 1} pairs, {refuted:.0f} refuted, {time.perf_counter() - began:.0f} s", flush=True)
    seconds = time.perf_counter() - began
    shares = ", ".join(f"{name} {count / options.pairs:.1%}" for name, count in verdicts.most_common())
    print(
        f"{options.pairs} pairs in {seconds:.1f} s: {options.pairs / seconds:.0f} pairs/s; slowest {slowest:.2f} s"
    )
    print(f"verdicts: {shares}")
    for reason, count in reasons.most_common(8):
        print(f"  unknown {count:6d}  {reason}")
    print(f"refuted: {refuted:.0f}")
    sys.exit(1 if refuted else 0)


if __name__ == "__main__":
    main()
