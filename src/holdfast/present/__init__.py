"""What the caller reads: dialects of success and failure, porcelain, bounds, paths, declared normalization."""
