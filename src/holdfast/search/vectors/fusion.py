"""The order of candidates by words and by meaning together: a sum of what words say, and of what vectors say.

    score by words / the best one  +  3 cosine  +  0.5 share of the question's words that stand in it

A rare word counts more in the share. Where words lower a chunk, as in tests or vendored code, the other two are
lowered as well. A constant is little but its name and its path, which are then all of its vector, so its cosine is
lowered further. A candidate without a vector gets the cosine that the others have on average.

The figures were chosen on development questions of benchmarks/search_quality.py; none of them asks for a constant.
"""

from collections.abc import Mapping

from holdfast.search.scoring import DEFAULT_WEIGHTS, Ranked

__all__ = ["FEWEST", "LEAST", "SHARE", "WEIGHT", "fuse"]

WEIGHT = 3.0  # of a cosine, beside 1 for the best score by words
SHARE = 0.5  # of the words of the question
LEAST = 0.2  # cosine of a chunk that is found by its meaning alone; below, two texts have nothing in common
_KINDS = {"variable": 0.75}
FEWEST = 50  # chunks that are looked at for their meaning


def fuse(ranked: list[Ranked], cosines: Mapping[int, float], source: str) -> list[Ranked]:
    """The candidates in their final order, with the parts of their scores; no candidate is left out."""
    best = max((one.score for one in ranked), default=0.0) or 1.0
    known = [cosines[one.row.id] for one in ranked if one.row.id in cosines]
    average = sum(known) / len(known) if known else 0.0
    for one in ranked:
        cosine = cosines.get(one.row.id)
        lexical = one.score
        prior = one.parts["prior"]
        meaning = WEIGHT * (average if cosine is None else cosine) * prior * _KINDS.get(one.row.kind, 1.0)
        # The scoring of words has drawn a root of the share.
        share = SHARE * one.parts["coordination"] ** (1 / DEFAULT_WEIGHTS.coordination) * prior
        one.score = lexical / best + meaning + share
        one.parts |= {"lexical": lexical / best, "vector": meaning, "share": share}
        one.more |= _told(lexical, cosine, source)
        if cosine is not None and not one.matched:
            one.notes.append("means something similar")
    return sorted(ranked, key=lambda one: (-round(one.score, 6), one.path, one.row.start, one.row.id))


def _told(lexical: float, cosine: float | None, source: str) -> dict[str, object]:
    said: dict[str, object] = {"scoreType": "blend", "sparseScore": round(lexical, 4)}
    if cosine is not None:
        said |= {"annScore": round(cosine, 4), "annSource": source, "annType": "cosine"}
    return said
