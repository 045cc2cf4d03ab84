"""What players and organisers say of a match that was played on the site, until it is settled."""
