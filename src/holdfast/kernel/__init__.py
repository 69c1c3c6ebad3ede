"""What the host decides, as a pure machine: `step(state, now, input) -> (state, commands)`; no clock, no I/O."""
