"""The API's part for matches: reads, results from game servers, and corrections."""
