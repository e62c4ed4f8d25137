"""What the routes of the network API do, a file a noun. Handlers read and write rows and know no address of their own."""
