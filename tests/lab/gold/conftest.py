"""Fixtures of the tests of annotations."""

from annotation_helpers import copied, sample, tiny  # noqa: F401
