"""How fast the site is, against something that does the same work: `make bench`. What came of it is in docs/performance.md."""
