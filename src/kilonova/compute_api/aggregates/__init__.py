"""Host aggregates, some of which are availability zones."""
