"""What holds for all tests: a slow machine is no failure, so hypothesis sets no deadline per example."""

from hypothesis import settings

settings.register_profile("dragoman", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile("dragoman")
