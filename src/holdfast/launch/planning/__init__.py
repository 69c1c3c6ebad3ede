"""From facts to a plan: which pages there will be, where they are, and what each of them holds."""
