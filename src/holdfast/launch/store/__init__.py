"""What is known of launch runs, kept so that no crash loses it: events, what follows from them, their files."""
