"""Pages that are on the site already: what was written there before, and what a new version makes of it."""
