"""The scheduler: pure functions that decide on a snapshot and return a plan. It knows no database and no ledger."""
