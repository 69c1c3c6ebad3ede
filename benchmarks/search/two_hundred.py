"""Two hundred requests about a real tree, made of its own sentences, names and words: always the same ones."""

import random
import re
from pathlib import Path
from typing import Any

__all__ = ["two_hundred_requests"]

FILTERS: tuple[dict[str, Any], ...] = (
    {"type": "class"}, {"type": "function,method"}, {"lang": "python"}, {"lang": "markdown"}, {"ext": "py"},
    {"path": "kernel/"}, {"path": ["wire/", "docs/"]}, {"path": "/guides.*md$/"}, {"file": "codec.py"},
    {"import": "re"}, {"import": "dataclasses"}, {"calls": "len"}, {"calls": "isinstance"}, {"uses": "Any"},
    {"signature": "self"}, {"param": "value"}, {"decorator": "dataclass"}, {"returnType": "bool"},
    {"returnType": "str"}, {"throws": "ValueError"}, {"reads": "self"}, {"writes": "self"}, {"mutates": "append"},
    {"inferredType": "int"}, {"alias": "="}, {"visibility": "private"}, {"visibility": "public"},
    {"extends": "Exception"}, {"extends": "Enum"}, {"returns": True}, {"returns": False}, {"async": False},
    {"generator": True}, {"branchesMin": 2}, {"loopsMin": 1}, {"breaksMin": 1}, {"continuesMin": 1},
    {"riskTag": "command"}, {"risk": "exec"}, {"modifiedAfter": "2020-01-01"}, {"churnMin": 1},
    {"author": "ada"}, {"caseTokens": True}, {"definition": "step"}, {"callers": "isinstance"},
)  # fmt: skip
PATTERNS = (
    "def \\w+_of", "raise \\w+Error", "^class [A-Z]\\w+\\(", "\\breturn None\\b", "x{2,}", "[0-9]{3}",
    "self\\._\\w+ = ", "lambda \\w+:", "->\\s*None", "\"[a-z]+-[a-z]+\"", "=={1}", "import .* as", "é",
    "``?\\w+``?", "TODO|FIXME",
)  # fmt: skip


def two_hundred_requests(root: Path) -> list[dict[str, Any]]:
    """The arguments of the requests; each is asked for ten results."""
    chance = random.Random(11)
    texts = [path.read_text() for path in sorted(root.rglob("*")) if path.suffix in {".py", ".md"}]
    told = [line for text in texts for line in re.findall(r'"""([A-Z][^"\n]{20,90})', text)]
    names = sorted({name for text in texts for name in re.findall(r"(?:def|class) (\w{4,})", text)})
    words = sorted({word for line in told for word in re.findall(r"[a-z]{4,}", line)})
    wanted: list[dict[str, Any]] = [{"query": line} for line in chance.sample(told, 50)]
    wanted += [{"query": name} for name in chance.sample(names, 30)]
    wanted += [{"query": f'"{" ".join(line.split()[1:3])}"'} for line in chance.sample(told, 25)]
    wanted += [{"query": _combined(chance, words, names)} for _ in range(25)]
    wanted += [{"query": chance.choice(["*", *chance.sample(words, 2)]), **one} for one in FILTERS]
    wanted += [{"query": f"/{pattern}/"} for pattern in PATTERNS]
    modes = ("code", "prose", "extracted-prose", "records", "all") * 2
    wanted += [{"query": chance.choice(words), "mode": mode} for mode in modes]
    return [{"mode": "all", **one, "top": 10} for one in wanted]


def _combined(chance: random.Random, words: list[str], names: list[str]) -> str:
    """Words that are combined in one of the ways that a query offers."""
    one, two, three = chance.sample(words, 3)
    forms = ("{} -{}", "{} NOT {}", "({} OR {}) AND {}", "{} OR {}", "NOT {}", "{} lang:python", "-lang:python {}")
    return chance.choice(forms).format(one, two, chance.choice([three, chance.choice(names)]))
