"""Changes to the site: where they may go, what they are, how they are applied, and how they reach a work tree."""
