"""Knows: Windows' graphics adapters (names, limits, sensors) through D3DKMT. Must not know: other sources."""
