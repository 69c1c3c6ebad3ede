"""What the benchmark of launch runs is made of: a generated product, and the watching of runs."""
