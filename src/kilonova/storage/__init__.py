"""Tables, statements and transactions: the only part that speaks SQL. It knows no rule beyond keeping rows whole."""
