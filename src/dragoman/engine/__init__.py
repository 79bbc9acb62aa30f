"""The runtime: two engines that need no deep-learning framework, and the translator above them."""
