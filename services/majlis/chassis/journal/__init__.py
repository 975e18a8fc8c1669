"""The journal: each shard of matches (or tournaments) is one subject of the log, appended to by one owner at a time.

Claim a lease, recover what is stored, append a barrier, then append batches: `lease.py`, `recovery.py`, `shard.py`.
What they need of the broker is `store.Store`; `nats_store` is the real one, `memory_store` its twin.
"""
