"""`holdfast launch try-model` and `answers`: see what a model would do, and keep what it said for later runs."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.launching import AS_JSON, RUN, open_service, print_json, run_of, told, workspace_options
from holdfast.cli.options import setting_options
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.launch.writing.model.chat import Endpoint

__all__ = ["answers", "try_model"]

_SAMPLE = (
    ("TableKit reads and writes CSV files.", "clm_0000000000000001"),
    ("`Table.read` opens a file by its path.", "clm_0000000000000002"),
    ("The encoding of a file is not guessed.", "clm_0000000000000003"),
)


@click.command(name="try-model")
@click.argument("file", metavar="RUN_YAML", type=click.Path(path_type=Path))
@AS_JSON
@setting_options("launch_tokens")
def try_model(file: Path, as_json: bool, **options: Any) -> int:
    """Ask the model that a configuration names for other words for a sample, and show what may be used of them.

    One question to each address, no run, nothing kept. Exit code 1 when one of them gives no answer.

    \b
    Examples:
      holdfast launch try-model run.yaml
      MODEL_KEY=... holdfast launch try-model run.yaml --json
    """
    with told(as_json=as_json):
        from holdfast.launch.run_config import checked, load_file
        from holdfast.launch.token_grants import TokenGrants
        from holdfast.launch.writing.model.chat import endpoints_of
        from holdfast.settings import load_configuration

        config = checked(load_file(file))
        TokenGrants(load_configuration(options).settings.launch_tokens).check(config)
        settings = config["llm"]
        endpoints = endpoints_of(settings)
        if not endpoints:
            raise UsageError(
                f"{file.name} names no model", remedy="set llm.api_base_url, such as http://127.0.0.1:8080/v1"
            )
        tried = [_tried(endpoint, settings) for endpoint in endpoints]
    is_fine = all("problem" not in one for one in tried)
    if as_json:
        print_json({"ok": is_fine, "tried": tried})
    else:
        for one in tried:
            _print_tried(one)
    return 0 if is_fine else 1


@click.command(name="answers")
@RUN
@workspace_options
def answers(run: str, **options: Any) -> int:
    """Print what the model answered in a run, one JSON object per line, for `api_base_url: "recorded:FILE"`.

    A run that names the file asks nobody, and writes the same pages.

    \b
    Examples:
      holdfast launch answers last > answers.jsonl
    """
    import json

    with told(), open_service(options, run=run) as service:
        found = run_of(service, run)
        kept = service.store.artifacts(found)
        names = sorted(name for name in kept if name.startswith("evidence/llm_calls/"))
        records = [json.loads(service.objects.read(kept[name].sha256)) for name in names]
    from holdfast.launch.writing.model.recorded import recorded_lines

    lines = recorded_lines(records)
    if not lines:
        raise UsageError(
            "no model has answered in this run", remedy="name one in llm.api_base_url, and start a run"
        )
    print(lines, end="")
    return 0


def _tried(endpoint: "Endpoint", settings: dict[str, Any]) -> dict[str, Any]:
    from holdfast.launch.writing.blocks import Paragraph, Sentence
    from holdfast.launch.writing.judging import judged
    from holdfast.launch.writing.model.chat import NoAnswer, complete
    from holdfast.launch.writing.rewriting import question_about

    sample = tuple(Sentence(text, (claim,)) for text, claim in _SAMPLE)
    begun = time.monotonic()
    about: dict[str, Any] = {"address": endpoint.shown, "model": endpoint.model}
    try:
        if endpoint.obstacle:
            raise NoAnswer("no_key", endpoint.obstacle)
        found = complete(endpoint, question_about(settings, Paragraph(sample)), "", endpoint.timeout)
    except NoAnswer as error:
        return about | {"problem": error.summary, "error_class": error.error_class}
    verdict = judged(sample, found.text if found.finish_reason == "stop" else "", {})
    return about | {
        "seconds": round(time.monotonic() - begun, 2),
        "tokens": found.usage["total"],
        "finish_reason": found.finish_reason,
        "answer": found.text,
        "used": [one.text for one in verdict.sentences if one not in sample],
        "refused": list(verdict.refused),
    }


def _print_tried(one: dict[str, Any]) -> None:
    print(f"{one['model']} at {one['address']}")
    if "problem" in one:
        print(f"  no answer: {one['problem']}", file=sys.stderr)
        return
    print(f"  answered in {one['seconds']} s with {one['tokens']} tokens, and ended with {one['finish_reason']}")
    for line in one["answer"].strip().split("\n"):
        print(f"  | {line}")
    print(f"  {len(one['used'])} of {len(_SAMPLE)} sentences would be printed in its words")
    for problem in one["refused"]:
        print(f"  refused: {problem}")
