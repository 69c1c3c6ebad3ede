"""Code search: discover -> extract -> index; query -> plan -> match -> rank -> shape."""
