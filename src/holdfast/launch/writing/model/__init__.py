"""The optional model behind the writer: what is asked, what it may cost, and what it answered before."""
