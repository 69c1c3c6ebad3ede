"""Paragraphs told more fluently by a model, and the judgement whether its words may be used.

The text of the template is always there. A model's text takes its place only if every mark is still in it and none
is new, and if it holds no number, name, platform or format that the paragraph did not have before.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.launch.claim_marks import claims_of, mark, without_marks
from holdfast.launch.factual_words import FORMATS, NUMBER_WORDS, PLATFORMS
from holdfast.launch.work import Workplace
from holdfast.launch.writing.blocks import Block, Paragraph, Sentence
from holdfast.launch.writing.model import Model

__all__ = ["Rewriter", "objection", "rewriter_of"]

_RULES = """\
You edit documentation. Rewrite the paragraph so that it reads fluently, in the language and spelling that it has.
Write one sentence per line. Each line ends with the comment of the sentence that it comes from, as it was given:
lose none and add none. State nothing that is not there: no number, name, version or code that is new.
Plain text and code spans only: no headings, lists, links or HTML. Answer with the lines alone.
"""
_LEAST_SENTENCES = 2
_TOKEN = re.compile(r"`[^`]+`|\d[\w.]*|\w+(?:[._]\w+)+|\b\w*[a-z][A-Z]\w*|--[\w-]+|\b[A-Z]{2,}\b")
_WORD = re.compile(r"[^\W_]+")
_STRUCTURE = re.compile(r"\s*(?:[#>|]|[-*+]\s|\d+[.)]\s|`{3}|~{3})")
_FORBIDDEN = ("<", "](", "{{", "http:", "https:", "\\")
_NEGATION = re.compile(r"\b(?:not|no|never|cannot|without|unsupported|n['’]t)\b|n['’]t\b", re.IGNORECASE)
_LONGEST_PROBLEM = 500


def rewriter_of(place: Workplace) -> "Rewriter | None":
    """What rewrites the section of this work within its share of the budget; nothing where there is no model."""
    settings, budgets = place.config["llm"], place.config["budgets"]
    if settings["api_base_url"].startswith("none:"):
        return None
    sections = place.config["required_sections"]
    calls, tokens = (budgets[name] // len(sections) for name in ("max_llm_calls", "max_llm_tokens"))
    if not calls:
        return None
    return Rewriter(Model(settings, calls, tokens, place.tell, f"{place.run_id}:{place.scope}"))


@dataclass(slots=True)
class Rewriter:
    """Asks a model for other words for each paragraph."""

    model: Model

    def rewritten(self, blocks: Sequence[Block]) -> tuple[list[Block], list[str], bool]:
        """The blocks, with the paragraphs that were told better; why others were not; whether any was."""
        made: list[Block] = []
        rejected: list[str] = []
        is_changed = False
        for block in blocks:
            kept, problem = self._paragraph(block) if _is_worth_it(block) else (block, "")
            is_changed = is_changed or kept is not block
            rejected += [problem[:_LONGEST_PROBLEM]] if problem else []
            made.append(kept)
        return made, list(dict.fromkeys(rejected)), is_changed

    def _paragraph(self, block: Block) -> tuple[Block, str]:
        assert isinstance(block, Paragraph)
        given = "\n".join(f"{one.text}{mark(one.claims)}" for one in block.sentences)
        reply = self.model.ask(_RULES, given)
        if not reply.text:
            return block, reply.problem
        problem = objection(given, reply.text)
        if problem:
            return block, problem
        lines = [line.strip() for line in reply.text.strip().split("\n") if line.strip()]
        return Paragraph(
            tuple(Sentence(without_marks(line).strip(), tuple(claims_of(line))) for line in lines)
        ), ""


def objection(given: str, told: str) -> str:
    """Why the model's words may not take the place of the given ones; empty where they may."""
    before, after = claims_of(given), claims_of(told)
    if set(before) - set(after):
        return "a mark was lost"
    if set(after) - set(before):
        return "a mark was invented"
    lines = [line for line in told.strip().split("\n") if line.strip()]
    if any(not claims_of(line) or not without_marks(line).strip() for line in lines):
        return "a line has no mark, or no text"
    old, new = without_marks(given), without_marks(told)
    if any(_STRUCTURE.match(line) for line in lines) or any(sign in new for sign in _FORBIDDEN):
        return "the text holds HTML, a link or other structure"
    if len(_NEGATION.findall(new)) != len(_NEGATION.findall(old)):
        return "a negation was lost or added"
    invented = sorted(_facts(new) - _facts(old))
    if invented:
        return f"the text states what no claim says: {', '.join(invented[:5])}"
    return "" if len(new) <= 2 * len(old) + 200 else "the text is much longer than what it was made of"


def _facts(text: str) -> set[str]:
    """Numbers, names, platforms and formats; a word in code counts as written without code too."""
    found = {one.strip("`").rstrip(".").lower() for one in _TOKEN.findall(text)}
    words = {word.lower() for word in _WORD.findall(text)}
    return found | (words & (FORMATS | PLATFORMS | NUMBER_WORDS))


def _is_worth_it(block: Block) -> bool:
    if not isinstance(block, Paragraph) or len(block.sentences) < _LEAST_SENTENCES:
        return False
    return all(one.claims for one in block.sentences)
