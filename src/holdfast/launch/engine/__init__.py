"""What executes runs. The store is the truth; an engine decides which process does the next step, and when."""
