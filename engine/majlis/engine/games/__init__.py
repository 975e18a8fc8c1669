"""The games, a folder each. `majlis.engine.registry` lists them."""
