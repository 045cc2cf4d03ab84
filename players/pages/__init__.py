"""What the pages show: read functions, each with a fixed number of queries, and the words of results."""
