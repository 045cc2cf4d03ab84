"""What Redis does in one step: Lua scripts over the keys of one pool.

A pool has a sorted set, score rank points, and a hash, by player id "version:member". The member orders a tie (see `store`). A
player who is not listed (any more) keeps his version with an empty member, so that an older write that arrives late does not
bring him back. The hash also counts: `#listed`, the members of the set, and `#versions`, the sum of the versions. Without
`#listed` the set is not there; where it is not what ZCARD says, something was lost, and the set is as good as not there.

KEYS: 1 the set, 2 its hash, 3 and 4 the same while they are being built, 5 the token of who builds, 6 there while a rebuild was
asked for a moment ago.
"""

KEYS = """
local SET, HASH, NEW_SET, NEW_HASH, BUILDER, ASKED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
"""

APPLY = (
    KEYS
    + """
-- Put ARGV[from], ... (player id, version, score, member) into a set unless it holds the same version or a newer one.
-- Returns how many of them it holds in the same version with other contents, which cannot be.
local function apply(set, hash, from)
  local listed, versions, conflicts = 0, 0, 0
  for at = from, #ARGV, 4 do
    local player, version, score, member = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2], ARGV[at + 3]
    local held, held_version, old = redis.call('HGET', hash, player), -1, ''
    if held then
      local colon = string.find(held, ':', 1, true)
      held_version, old = tonumber(string.sub(held, 1, colon - 1)), string.sub(held, colon + 1)
    end
    if version > held_version then
      if old ~= '' and old ~= member then
        redis.call('ZREM', set, old)
      end
      if member ~= '' then
        redis.call('ZADD', set, score, member)
      end
      redis.call('HSET', hash, player, ARGV[at + 1] .. ':' .. member)
      listed = listed + (member ~= '' and 1 or 0) - (old ~= '' and 1 or 0)
      versions = versions + version - math.max(held_version, 0)
    elseif version == held_version then
      local same = old == member
      if same and member ~= '' then
        same = tonumber(redis.call('ZSCORE', set, member) or 'nan') == tonumber(score)
      end
      conflicts = conflicts + (same and 0 or 1)
    end
  end
  redis.call('HINCRBY', hash, '#listed', listed)
  redis.call('HINCRBY', hash, '#versions', versions)
  return conflicts
end
"""
)

PUT = (
    APPLY
    + """
-- Ratings that were written: into the set, and into the one that is being built. Returns the conflicts in the set.
local conflicts = 0
if redis.call('HEXISTS', HASH, '#listed') == 1 then
  conflicts = apply(SET, HASH, 1)
end
if redis.call('EXISTS', NEW_HASH) == 1 then
  apply(NEW_SET, NEW_HASH, 1)
end
return conflicts
"""
)

BEGIN = (
    KEYS
    + """
-- ARGV: token, seconds. Whether this one may build: nobody else does.
if not redis.call('SET', BUILDER, ARGV[1], 'NX', 'EX', ARGV[2]) then
  return 0
end
redis.call('UNLINK', NEW_SET, NEW_HASH)
redis.call('HSET', NEW_HASH, '#listed', 0, '#versions', 0)
redis.call('EXPIRE', NEW_HASH, ARGV[2])
return 1
"""
)

LOAD = (
    APPLY
    + """
-- ARGV: token, seconds, then ratings as they were read. Whether this one is the builder still.
if redis.call('GET', BUILDER) ~= ARGV[1] or redis.call('EXISTS', NEW_HASH) == 0 then
  return 0
end
apply(NEW_SET, NEW_HASH, 3)
for _, key in ipairs({NEW_SET, NEW_HASH, BUILDER}) do
  redis.call('EXPIRE', key, ARGV[2])
end
return 1
"""
)

FINISH = (
    KEYS
    + """
-- ARGV: token. The built set takes the place of the old one; the number of players listed, or nil where it was not this one's.
if redis.call('GET', BUILDER) ~= ARGV[1] then
  return false
end
local listed = redis.call('HGET', NEW_HASH, '#listed')
if not listed or tonumber(listed) ~= redis.call('ZCARD', NEW_SET) then
  return false
end
-- UNLINK first: what RENAME replaces it would delete at once, a second for a million.
redis.call('UNLINK', SET, HASH, BUILDER, ASKED)
if tonumber(listed) > 0 then
  redis.call('RENAME', NEW_SET, SET)
  redis.call('PERSIST', SET)
end
redis.call('RENAME', NEW_HASH, HASH)
redis.call('PERSIST', HASH)
return tonumber(listed)
"""
)

ABANDON = (
    KEYS
    + """
-- ARGV: token. Clear away what this one has not finished.
if redis.call('GET', BUILDER) == ARGV[1] then
  redis.call('UNLINK', NEW_SET, NEW_HASH, BUILDER)
end
return 1
"""
)

DROP = """
-- The set is wrong, and so is what was read for the next one.
redis.call('UNLINK', unpack(KEYS))
return 1
"""

READ = (
    KEYS
    + """
local total = redis.call('ZCARD', SET)
if tonumber(redis.call('HGET', HASH, '#listed') or -1) ~= total then
  return false
end
"""
)

COUNT = (
    READ
    + """
-- How many are listed, and the sum of the versions.
return {total, tonumber(redis.call('HGET', HASH, '#versions'))}
"""
)

ROWS = (
    READ
    + """
-- ARGV: first and last position. How many are listed, how many stand above the first of these, and members with scores.
local rows = redis.call('ZREVRANGE', SET, ARGV[1], ARGV[2], 'WITHSCORES')
local above = 0
if #rows > 0 then
  above = redis.call('ZCOUNT', SET, '(' .. rows[2], '+inf')
end
return {total, above, rows}
"""
)

PLACE = (
    READ
    + """
-- ARGV: score, member. How many are listed, above, and below, and the position; the first alone where the set does not hold this.
if tonumber(redis.call('ZSCORE', SET, ARGV[2]) or 'nan') ~= tonumber(ARGV[1]) then
  return {total}
end
local above = redis.call('ZCOUNT', SET, '(' .. ARGV[1], '+inf')
local below = redis.call('ZCOUNT', SET, '-inf', '(' .. ARGV[1])
return {total, above, below, redis.call('ZREVRANK', SET, ARGV[2])}
"""
)

ABOVE = (
    READ
    + """
-- ARGV: scores. How many stand above each.
local counts = {}
for at, score in ipairs(ARGV) do
  counts[at] = redis.call('ZCOUNT', SET, '(' .. score, '+inf')
end
return counts
"""
)

SPAN = (
    READ
    + """
-- The lowest and the highest score; none of an empty set.
local lowest, highest = redis.call('ZRANGE', SET, 0, 0, 'WITHSCORES'), redis.call('ZREVRANGE', SET, 0, 0, 'WITHSCORES')
return {lowest[2], highest[2]}
"""
)

COUNTS = (
    READ
    + """
-- ARGV: lowest edge, width, number of bins. How many are in each; who moved out of the span meanwhile is counted at its end.
local first, width, bins = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local counts, passed = {}, 0
for bin = 1, bins - 1 do
  local below = redis.call('ZCOUNT', SET, '-inf', string.format('(%.0f', first + bin * width))
  counts[bin] = below - passed
  passed = below
end
counts[bins] = total - passed
return counts
"""
)
