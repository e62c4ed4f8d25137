"""What is done to servers: durable operations, the engine that runs them, and the transactions of a server's life."""
