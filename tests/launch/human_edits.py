"""What people do to a page that was written for them: edits that a seed chooses, and how a page is read then."""

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence

__all__ = ["edited_page", "headings", "lines_of"]

_HEADING = re.compile(r"#{1,6} ")


def lines_of(text: str) -> Counter[str]:
    """The lines of a page that say something, and how often each is there."""
    return Counter(line for line in text.replace("\r\n", "\n").split("\n") if line.strip())


def headings(text: str) -> list[str]:
    """The headings of a page, in their order; code that looks like one is none."""
    found, is_code = [], False
    for line in text.replace("\r\n", "\n").split("\n"):
        is_code ^= line.startswith("```")
        if not is_code and _HEADING.match(line):
            found.append(line)
    return found


def edited_page(text: str, seed: int) -> str:
    """The page after one to six edits."""
    chance = random.Random(seed)
    for number in range(chance.randint(1, 6)):
        text = chance.choice(_EDITS)(text, chance, f"{seed}.{number}")
    return text.replace("\n", "\r\n") if seed % 17 == 16 else text


def _split(text: str) -> tuple[list[str], list[str]]:
    """The lines of the front matter, fences included, and those of the body."""
    lines = text.split("\n")
    end = lines.index("---", 1) + 1
    return lines[:end], lines[end:]


def _prose(body: Sequence[str], *, code: bool = False) -> list[int]:
    """Lines of the body that are no headings and no fences; those in code, or those outside of it."""
    found, is_code = [], False
    for number, line in enumerate(body):
        if line.startswith("```"):
            is_code = not is_code
        elif is_code == code and line.strip() and not _HEADING.match(line) and not set(line) <= set("|- "):
            found.append(number)
    return found


def _change_line(text: str, chance: random.Random, name: str) -> str:
    head, body = _split(text)
    places = _prose(body)
    if places:
        place = chance.choice(places)
        words = body[place].split(" ")
        words.insert(min(2, len(words)), f"(people say {name})")
        body[place] = " ".join(words)
    return "\n".join([*head, *body])


def _rewrite_line_without_its_mark(text: str, chance: random.Random, name: str) -> str:
    head, body = _split(text)
    places = [place for place in _prose(body) if not body[place].startswith("|")]
    if places:
        body[chance.choice(places)] = f"Said quite otherwise by people, with 7 formats and speed ({name})."
    return "\n".join([*head, *body])


def _add_paragraph(text: str, chance: random.Random, name: str) -> str:
    head, body = _split(text)
    blanks = [place for place, line in enumerate(body) if not line and place and not _is_in_code(body, place)]
    if blanks:
        place = chance.choice(blanks)
        body[place:place] = [
            "",
            f"A paragraph of people, which supports 12 things ({name}).",
            f"Its second line ({name}).",
        ]
    return "\n".join([*head, *body])


def _add_item(text: str, chance: random.Random, name: str) -> str:
    head, body = _split(text)
    places = [place for place in _prose(body) if body[place].startswith("- ")]
    if places:
        body.insert(chance.choice(places) + chance.randint(0, 1), f"- An item of people ({name})")
    return "\n".join([*head, *body])


def _add_row(text: str, chance: random.Random, name: str) -> str:
    head, body = _split(text)
    places = [
        place for place in _prose(body) if body[place].startswith("|") and not body[place + 1].startswith("| --")
    ]
    if places:
        place = chance.choice(places)
        body.insert(place + 1, "|" + f" a row {name} |" * (body[place].count("|") - 1))
    return "\n".join([*head, *body])


def _delete_line(text: str, chance: random.Random, name: str) -> str:
    del name
    head, body = _split(text)
    places = [place for place in _prose(body) if not body[place].startswith("|")]
    if places:
        del body[chance.choice(places)]
    return "\n".join([*head, *body])


def _change_code(text: str, chance: random.Random, name: str) -> str:
    head, body = _split(text)
    places = _prose(body, code=True)
    if places:
        body[chance.choice(places)] += f"  # {name}"
    return "\n".join([*head, *body])


def _sections(body: Sequence[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for place, line in enumerate(body):
        if line.startswith("## ") and not _is_in_code(body, place):
            found.append([])
        found[-1].append(line)
    return found


def _is_in_code(body: Sequence[str], place: int) -> bool:
    return sum(line.startswith("```") for line in body[:place]) % 2 == 1


def _add_section(text: str, chance: random.Random, name: str) -> str:
    head, body = _split(text)
    sections = _sections(body)
    place = chance.randint(1, len(sections))
    if sections[place - 1][-1]:
        sections[place - 1].append("")
    new = [
        f"## By people {name}",
        "",
        f"Fast, secure and free ({name}).",
        "",
        "```text",
        f"not code {name}",
        "```",
        "",
    ]
    sections.insert(place, new)
    return "\n".join([*head, *(line for section in sections for line in section)])


def _delete_section(text: str, chance: random.Random, name: str) -> str:
    del name
    head, body = _split(text)
    sections = _sections(body)
    if len(sections) > 2:
        del sections[chance.randrange(1, len(sections) - 1)]
    return "\n".join([*head, *(line for section in sections for line in section)])


def _move_section(text: str, chance: random.Random, name: str) -> str:
    del name
    head, body = _split(text)
    sections = _sections(body)
    if len(sections) > 3:
        moved = sections.pop(chance.randrange(1, len(sections) - 1))
        sections.insert(chance.randrange(1, len(sections)), moved)
    return "\n".join([*head, *(line for section in sections for line in section)])


def _rename_section(text: str, chance: random.Random, name: str) -> str:
    head, body = _split(text)
    places = [place for place, line in enumerate(body) if line.startswith("## ") and not _is_in_code(body, place)]
    if places:
        place = chance.choice(places)
        body[place] += f", as people say {name}"
    return "\n".join([*head, *body])


def _change_key(text: str, chance: random.Random, name: str) -> str:
    head, body = _split(text)
    places = [place for place, line in enumerate(head) if re.match(r"(title|description|weight):", line)]
    place = chance.choice(places) if places else 0
    key = head[place].partition(":")[0]
    if places:
        head[place] = f"{key}: {4000 + len(name)}" if key == "weight" else f"{key}: 'By people {name}'"
    return "\n".join([*head, *body])


def _add_key(text: str, chance: random.Random, name: str) -> str:
    head, body = _split(text)
    if not any(line.startswith("featured:") for line in head):
        head.insert(chance.choice((1, len(head) - 1)), "featured: true")
    return "\n".join([*head, *body])


def _comment_front_matter(text: str, chance: random.Random, name: str) -> str:
    head, body = _split(text)
    keys = [place for place, line in enumerate(head) if re.match(r"[a-z]+: [a-z0-9]+$", line)]
    if keys and chance.random() < 0.5:
        head[chance.choice(keys)] += f" # {name}"
    else:
        head.insert(1, f"# by people {name}")
    return "\n".join([*head, *body])


def _delete_key(text: str, chance: random.Random, name: str) -> str:
    del name
    head, body = _split(text)
    places = [place for place, line in enumerate(head) if re.match(r"(weight|draft):", line)]
    if places:
        del head[chance.choice(places)]
    return "\n".join([*head, *body])


_EDITS: Sequence[Callable[[str, random.Random, str], str]] = (
    _change_line, _change_line, _rewrite_line_without_its_mark, _add_paragraph, _add_item, _add_row, _delete_line,
    _change_code, _add_section, _delete_section, _move_section, _rename_section, _change_key, _add_key,
    _comment_front_matter, _delete_key,
)  # fmt: skip
