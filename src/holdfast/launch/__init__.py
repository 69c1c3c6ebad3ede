"""Launch runs: a product's repository becomes cited pages on a website, checked by gates, as a pull request."""
