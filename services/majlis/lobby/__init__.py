"""The lobby: players, tables and tournaments.

`hall` decides for tournaments over the journal, `manager` opens their matches and starts their rounds, `results`
books what was played, `tables` keeps casual tables, `servicer` is the gRPC face.
"""
