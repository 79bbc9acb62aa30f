"""Figures, measured again by whoever wants to know: `make bench`, or `python -m benchmarks NAME…` for some of them."""
