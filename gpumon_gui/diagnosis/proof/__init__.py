"""Whether a framework really computes on a GPU: a known computation inside, instruments outside, one verdict."""
