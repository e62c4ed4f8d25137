"""Resource classes: names of what providers have amounts of."""
