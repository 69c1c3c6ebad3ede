"""What there is in the two repositories of a run: files, manifests, pages, configuration. Nothing of it is run."""
