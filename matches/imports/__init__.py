"""Lists of matches and match files, as they come in: from `dialect` and `transcripts` through `service` to the matches."""
