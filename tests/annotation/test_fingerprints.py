"""Fingerprints: the same for the same letters, and no text."""

import hashlib

import pytest

from miner.annotation.alignment import fingerprint


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("“Not _you_, René?”", "NOT YOU, RENE"),
        ("“A long—grey—road”", "'a long grey road'"),
        ("“To-morrow, at the œuvre.”", "to–morrow at the oeuvre…"),
    ],
)
def test_a_fingerprint_has_only_the_letters(text, other):
    assert fingerprint(text) == fingerprint(other)


def test_a_fingerprint_is_initials_number_of_letters_and_digest():
    found = fingerprint("“The gull, Mr. Pym!”")
    digest = hashlib.sha256(b"thegullmrpym").hexdigest()[:8]
    assert (found.initials, found.n_letters, found.digest) == ("tgmp", 12, digest)
    assert str(found) == f"tgmp.12.{digest}"
    cold, calm = fingerprint("“Cold tea.”"), fingerprint("“Calm tea.”")
    assert (cold.initials, cold.n_letters) == (calm.initials, calm.n_letters) == ("ct", 7)
    assert cold.digest != calm.digest


def test_a_text_without_letters_has_the_digest_of_what_is_between_the_marks():
    found = fingerprint("“——!”")
    assert (found.initials, found.n_letters) == ("", 0)
    assert found.digest == hashlib.sha256("——!".encode()).hexdigest()[:8]
    assert found == fingerprint("'——!'") == fingerprint('"——!"') == fingerprint("»——!«")
    assert found not in (fingerprint("“——?”"), fingerprint("“—!”"))
