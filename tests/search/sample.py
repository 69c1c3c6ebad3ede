"""A small repository in several languages, with a history, that has something for every filter to find."""

import os
import subprocess
from pathlib import Path

__all__ = ["SAMPLE", "git", "write_sample"]

SAMPLE: dict[str, str] = {
    "src/budget.py": '''"""Budgets for retries."""

import os
import subprocess
from functools import cache

from errors import BudgetError

LIMIT = 10


class RetryBudget(dict):
    """Counts how often something may be tried again."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self.spent = 0

    def enforce(self, cost: float) -> bool:
        """Refuse a retry when the budget is used up."""
        # The window slides: old attempts are forgotten first.
        for attempt in self.attempts:
            if attempt.old:
                continue
            if attempt.dead:
                break
        if self.spent + cost > self.limit:
            raise BudgetError("exhausted")
        self.spent += cost
        return True

    async def wait(self, session):
        answer = await session.get("/budget")
        return answer

    def _attempts(self):
        for one in self.log:
            yield one


@cache
def shell(command: str) -> None:
    target = os.environ["TARGET"]
    subprocess.run(command + target, shell=True)


def renamed(budget):
    same = budget
    return same


def quiet():
    pass
''',
    "src/errors.py": 'class BudgetError(Exception):\n    """The budget is exhausted."""\n',
    "tests/test_budget.py": (
        "from budget import RetryBudget\n\n\ndef test_enforce():\n    RetryBudget().enforce(1.0)\n"
    ),
    "web/client.js": """import axios from "axios";

/** Fetches the budget of a user. */
export async function fetchBudget(user, limit = 3) {
  for (let i = 0; i < limit; i++) {
    const answer = await axios.get(`/budget/${user}`);
    if (answer.ok) return answer.data;
  }
  throw new RangeError("no budget");
}

class View extends Panel {
  #render(text) { this.node.innerHTML = text; }
}
""",
    "web/view.ts": """export interface BudgetView { limit: number }

export class Screen implements BudgetView {
  private limit: number = 1;
  show(view: BudgetView): string { return String(view.limit + this.limit); }
}
""",
    "pkg/budget.go": """package budget

import "errors"

// Spend takes from the budget.
func (b *Budget) Spend(cost int) (int, error) {
	if b.left < cost {
		return 0, errors.New("exhausted")
	}
	b.left -= cost
	return b.left, nil
}

type Budget struct{ left int }
""",
    "app/Budget.java": """package app;

import java.util.List;

/** A budget for retries. */
public class Budget extends Account {
    private int left;

    @Override
    public int spend(int cost) throws BudgetException {
        if (cost > left) { throw new BudgetException("exhausted"); }
        left -= cost;
        return left;
    }
}
""",
    "lib/spend.rb": "class Spend\n  def call(cost)\n    cost + 1\n  end\nend\n",
    "README.md": (
        "# Budgets\n\nHow retries are limited.\n\n## Install\n\nCopy it; don't ask.\n\n"
        "## The retry budget\n\nIt is enforced per call.\n"
    ),
    "tools/manager.py": "class ToolManager:\n    def find(self, name):\n        return self.tools[name]\n",
    "build/gen/exports.py": "def generated_export(value):\n    return value\n",
    "logs/run.log": (
        '{"time": "2026-01-02T03:04:05Z", "level": "error", "service": "billing", "message": "budget exhausted"}\n'
        '{"time": "2026-01-02T03:04:06Z", "level": "info", "service": "mail", "message": "budget restored"}\n'
    ),
    "holdfast.example.toml": "[budget]\nlimit = 10\n",
}


def git(root: Path, *arguments: str, author: str = "Ada Lovelace", when: str = "2026-01-10T12:00:00Z") -> None:
    """Run git as somebody, at some time, whatever the machine is configured to."""
    environment = os.environ | {
        "GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_NAME": author, "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_COMMITTER_DATE": when,
        "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, env=environment)


def write_sample(root: Path) -> Path:
    """The repository with two commits: all of it by Ada, then a change of the errors by Grace."""
    root.mkdir(parents=True, exist_ok=True)
    for path, text in SAMPLE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git(root, "init", "--quiet", "--initial-branch", "trunk")
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--message", "begin")
    errors = root / "src/errors.py"
    errors.write_text(errors.read_text() + '\n\nclass Exhausted(BudgetError):\n    """Nothing is left."""\n')
    git(
        root, "commit", "--quiet", "--all", "--message", "more", author="Grace Hopper", when="2026-06-10T12:00:00Z"
    )
    return root
