"""Git, the only way in which this package runs it: `asking` reads, `acting` writes; no repository is trusted."""
