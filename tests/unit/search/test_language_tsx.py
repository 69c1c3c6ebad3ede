"""TSX: components with types; what it shares with TypeScript is tested there."""

from holdfast.search.extract.code import extract
from holdfast.search.model import Chunk

SOURCE = b"""\
import React, { useState } from "react";
import { Card } from "./ui";

interface Props { title: string; onClose?: () => void }

/** Shows a title. */
export const Panel: React.FC<Props> = ({ title, onClose = noop }: Props) => {
  const [open, setOpen] = useState<boolean>(false);
  if (!open && title) return null;
  return (
    <Card.Frame title={title} onClick={() => setOpen(true)}>
      <span className="x">some text {title}</span>
      <Icon/>
    </Card.Frame>
  );
};

export default function App(): JSX.Element { return <Panel title="a" />; }
"""


def chunk(name: str) -> Chunk:
    found = extract("tsx", "panel.tsx", SOURCE).chunks
    return next(item for item in found if item.mode == "code" and item.name == name)


def test_components_are_found_with_their_kinds_and_lines() -> None:
    found = extract("tsx", "panel.tsx", SOURCE)
    definitions = [
        (item.kind, item.name, item.start_line, item.end_line) for item in found.chunks if item.signature
    ]

    assert definitions == [("interface", "Props", 4, 4), ("function", "Panel", 7, 16), ("function", "App", 18, 18)]
    assert found.remarks == []
    assert found.imports == ["react", "./ui"]
    assert set(found.exports) == {"Panel", "App", "default"}


def test_a_component_knows_its_properties_and_what_it_shows() -> None:
    facts = chunk("Panel").facts

    assert facts["params"] == ["title", "onClose"]
    assert facts["param_types"] == ['title: Props["title"]', 'onClose: Props["onClose"]']
    assert facts["writes"] == ["open", "setOpen"]
    assert {"Card.Frame", "Icon", "useState", "react.useState"} <= set(facts["uses"])
    assert not {"span", "className", "text", "title"} & set(facts["uses"])


def test_a_component_is_counted_and_documented_like_any_function() -> None:
    found = chunk("Panel")

    assert (found.counts["branches"], found.counts["returns"], found.counts["complexity"]) == (1, 2, 3)
    assert found.doc == "Shows a title."
    assert chunk("App").facts["return_types"] == ["JSX.Element"]
