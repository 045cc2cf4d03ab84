"""The players' messages: in their inbox on the site, and by mail to those who want it."""
