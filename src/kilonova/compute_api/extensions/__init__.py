"""Extensions: a list from before microversions that some clients still read."""
