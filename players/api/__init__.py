"""The API's part for players and pools, and what all of the API stands on: errors, parameters, keys, throttles, the schema.

`matches.api` adds what was played. Views parse and answer; services and reads are the same as the pages'.
"""
