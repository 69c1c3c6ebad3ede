"""Two surfaces side by side: what changed, for whom it breaks, and how far a version must move for it."""
