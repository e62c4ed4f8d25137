"""Resource providers: the nodes of the ledger's trees."""
