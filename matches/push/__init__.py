"""What happened, told to whom it concerns after the commit: the change feed, webhooks and the players' messages.

An event is a row that is written in the transaction of what it tells. The sweep gives events their places in the feed, one after
the other, and makes the deliveries and messages that they ask for, once; tasks send those.
"""
