"""Learning: sizes and plan, loss, schedule, the loop, and the state that makes resuming exact."""
