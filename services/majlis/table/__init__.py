"""The table service: hosts matches. The way of one move: `play` → `shard_host` → journal → `shard_host` → `play`."""
