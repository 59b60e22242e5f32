"""Knows: the scripted machines, a file per kind of trouble. Must not know: how they are chosen."""
