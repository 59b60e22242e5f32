"""Values and words of the domain. Standard library only."""
