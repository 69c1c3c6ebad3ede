"""Sets a machine up: clients that start servers behind the host, the skill, and a look at all that is needed."""
