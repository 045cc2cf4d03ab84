"""What matches for real money cost and came to: the rake, and the statement of a player. The site moves no money."""
