"""How true extraction is, per language, on samples labelled by hand.

    python -m benchmarks.search_accuracy [LANGUAGE...]

With the name of a language, everything that is missing or wrong in it is listed. Without, languages with full
metadata are shown; those with definitions alone have to be named.
"""

import argparse

from tests.labelled.scoring import TAIL, Score, labelled_languages, score_language

_RATES = f"{'precision':>9} {'recall':>7}"
_HEAD = f"{'language':12} {'definitions':>11} {_RATES}   {'facts':>6} {_RATES}"


def main(languages: list[str]) -> None:
    """Print one line per language, and what is wrong where a language was named."""
    print(_HEAD)
    for language in languages or labelled_languages():
        definitions, facts = score_language(language)
        print(f"{language:12} {_line(definitions, 11)}   {_line(facts, 6)}")
        for name, score in (("definition", definitions), ("fact", facts)) if languages else ():
            for one in score.missing():
                print(f"  missing {name}: {one}")
            for one in score.wrong():
                print(f"  wrong {name}: {one}")


def _line(score: Score, width: int) -> str:
    return f"{len(score.wanted):{width}} {score.precision:9.3f} {score.recall:7.3f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [*labelled_languages(), *labelled_languages(TAIL)]
    parser.add_argument("languages", metavar="LANGUAGE", nargs="*", help="one with labelled samples")
    chosen = parser.parse_args().languages
    if unknown := sorted(set(chosen) - set(known)):
        parser.error(f"there are no labelled samples of {', '.join(unknown)}; there are of {', '.join(known)}")
    main(chosen)
