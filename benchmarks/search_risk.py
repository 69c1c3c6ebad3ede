"""How true the flows are that the risk rules find: precision and recall by language, on hand-labelled functions.

    python -m benchmarks.search_risk [--verbose] [LANGUAGE...]

The samples are in tests/labelled/risk. The exit code is 1 when a language is below 0.9 precision or 0.8 recall.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.labelled.risk_scoring import SAMPLES, count_labels, labelled_languages, score_risk

from holdfast.search.library import build_index, open_index
from holdfast.search.repository import find_repository

PRECISION, RECALL = 0.9, 0.8


def main() -> int:
    """Print a line for each language, and what is wrong on request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE")
    parser.add_argument("--verbose", action="store_true", help="list what is missing and what is wrong")
    options = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(SAMPLES, Path(place, "samples"))
        repository = find_repository(Path(place, "samples"))
        build_index(repository, Path(place, "cache"))
        with open_index(repository, Path(place, "cache")) as index:
            for language in options.languages or labelled_languages():
                score, (flows, none) = score_risk(index, language), count_labels(language)
                missed = missed or score.precision < PRECISION or score.recall < RECALL
                counts = f"{flows:3} with a flow, {none:3} without"
                print(f"{language:12} {counts}   precision {score.precision:.3f}   recall {score.recall:.3f}")
                for title, items in (("missing", score.missing()), ("wrong", score.wrong())):
                    for item in items if options.verbose else ():
                        print(f"    {title}: {item}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
