"""What was done to a server: its operations, shown as instance actions."""
