"""What follows from samples: states, headlines, explanations. Pure functions over frozen values."""
