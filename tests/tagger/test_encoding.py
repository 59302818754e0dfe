"""Chapters in tokens: each token is taken once, with context, and utterances keep their words."""

from itertools import pairwise

import numpy as np
import pytest
from encoders import KINDS, bytes_tokenizer, plain_of, sample, tokenizer_of, told
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from miner.errors import InputError
from miner.tagger.encoding import (
    Window,
    batch_windows,
    encode_spans,
    encode_text,
    find_special_tokens,
    plain_tokenizer,
)
from miner.tagger.features import FEATURES, Chapter, Paragraph, split_chapters

WHOLE = 100_000  # a window that holds any chapter


def chapter_of(*paragraphs):
    (chapter,) = split_chapters(told(paragraphs))
    return chapter


def of_words(*lengths):
    """A chapter of one-token words, the first of each paragraph spoken."""
    texts = [" ".join(["the"] * n) for n in lengths]
    paragraphs = tuple(Paragraph(text, ((0, 3),)) for text in texts)
    features = np.zeros((len(texts), len(FEATURES)), np.float32)
    return Chapter("0", 1, "en", paragraphs, tuple(range(len(texts))), features)


def tokens_of(encoding):
    """The tokens that windows give the chapter, in order; each once."""
    taken = {}
    for window in encoding.windows:
        low, high = window.taken
        assert 0 <= low < high <= len(window.ids) - 2
        for n, token in enumerate(window.ids[1 + low : 1 + high], window.start):
            assert n not in taken
            taken[n] = token
    assert sorted(taken) == list(range(encoding.n_tokens))
    assert list(taken) == sorted(taken)
    return [taken[n] for n in range(encoding.n_tokens)]


def bare(text):
    return "".join(text.lower().split())


def decoded(tokenizer, ids):
    assert tokenizer.unk_token_id is None or tokenizer.unk_token_id not in ids
    return bare(tokenizer.decode(ids, clean_up_tokenization_spaces=False))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(0, 12), st.integers(1, 30))
@settings(max_examples=50, deadline=None)
def test_every_token_is_taken_once_and_stands_in_context(lengths, margin, room):
    tokenizer = tokenizer_of()
    chapter = of_words(*lengths)
    window = 2 * margin + room + 2
    found = encode_text(chapter, plain_of(), window, margin)
    whole = encode_text(chapter, plain_of(), WHOLE, margin)
    tokens = tokens_of(found)
    assert tokens == tokens_of(whole)
    # A paragraph's words and the separator after them.
    assert found.n_tokens == sum(lengths) + len(lengths)
    assert (found.utterances, found.narration) == (whole.utterances, whole.narration)
    sizes = [len(item.ids) for item in found.windows]
    assert max(sizes) <= window
    assert max(sizes) - min(sizes) <= 1
    for item in found.windows:
        low, high = item.taken
        assert (item.ids[0], item.ids[-1]) == (tokenizer.cls_token_id, tokenizer.sep_token_id)
        # The tokens that are only context are the chapter's, too.
        start = item.start - low
        assert list(item.ids[1:-1]) == tokens[start : start + len(item.ids) - 2]
        assert low >= margin or item.start == 0
        assert len(item.ids) - 2 - high >= margin or item.start + high - low == found.n_tokens
    # No more windows than needed: with one less, each would hold too many.
    if (n := len(found.windows)) > 1:
        assert found.n_tokens - 2 * margin > (n - 1) * room


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_a_chapter_that_just_fits_is_one_window(extra):
    chapter = of_words(20, 9)  # 31 tokens with separators
    found = encode_text(chapter, plain_of(), 33 + extra, 4)
    assert len(found.windows) == (2 if extra < 0 else 1)
    if extra >= 0:
        (window,) = found.windows
        assert (window.taken, window.start, len(window.ids)) == ((0, 31), 0, 33)


@pytest.mark.parametrize("kind", KINDS)
def test_one_window_is_what_the_tokenizer_makes_of_the_text(kind):
    tokenizer = tokenizer_of(kind)
    chapter = chapter_of("“Come,” said the postman, “and see.”", "“No.”")
    (window,) = encode_text(chapter, plain_of(kind), 256, 32).windows
    first, second = (
        tokenizer(paragraph.text, add_special_tokens=False).input_ids
        for paragraph in chapter.paragraphs
    )
    ends = (tokenizer.cls_token_id, tokenizer.sep_token_id)
    assert list(window.ids) == [ends[0], *first, ends[1], *second, ends[1], ends[1]]


@pytest.mark.parametrize("kind", KINDS)
def test_windows_of_the_sample_agree_with_one_pass(kind):
    for chapter in split_chapters(sample()):
        cut = encode_text(chapter, plain_of(kind), 64, 16)
        whole = encode_text(chapter, plain_of(kind), WHOLE, 16)
        assert (len(cut.windows) > 5, len(whole.windows)) == (True, 1)
        assert tokens_of(cut) == tokens_of(whole)


@pytest.mark.parametrize("kind", KINDS)
def test_ranges_hold_the_words_of_each_utterance(kind):
    tokenizer = tokenizer_of(kind)
    for chapter in split_chapters(sample()):
        encoding = encode_text(chapter, plain_of(kind), 64, 16)
        tokens = tokens_of(encoding)
        texts = [
            paragraph.text[start:end]
            for paragraph in chapter.paragraphs
            for start, end in paragraph.utterances
        ]
        for text, (first, last) in zip(texts, encoding.utterances, strict=True):
            assert decoded(tokenizer, tokens[first:last]) == bare(text)


@pytest.mark.parametrize("kind", KINDS)
def test_narration_lies_between_utterances(kind):
    tokenizer = tokenizer_of(kind)
    separator = bare(tokenizer.sep_token)
    for chapter in split_chapters(sample()):
        encoding = encode_text(chapter, plain_of(kind), 64, 16)
        tokens = tokens_of(encoding)
        ends = [0, *(last for _, last in encoding.utterances)]
        starts = [first for first, _ in encoding.utterances]
        assert list(encoding.narration) == list(zip(ends[:-1], starts, strict=True))
        # All text up to the last utterance is in one or the other.
        ranges = [
            item
            for both in zip(encoding.narration, encoding.utterances, strict=True)
            for item in both
        ]
        assert all(a[1] == b[0] for a, b in pairwise(ranges))
        read = "".join(decoded(tokenizer, tokens[low:high]) for low, high in ranges)
        whole = separator.join(bare(paragraph.text) for paragraph in chapter.paragraphs)
        assert whole.startswith(read)


def test_narration_by_hand():
    tokenizer = tokenizer_of()
    chapter = chapter_of("“No.” He went. “No.”", "“No.”", "The day.", "“No.”")
    encoding = encode_text(chapter, plain_of(), 256, 32)
    tokens = tokens_of(encoding)
    read = [decoded(tokenizer, tokens[low:high]) for low, high in encoding.narration]
    assert read == ["", "hewent.", "[sep]", "[sep]theday.[sep]"]


@pytest.mark.parametrize("kind", KINDS)
def test_narration_that_touches_an_utterance_is_not_of_it(kind):
    tokenizer = tokenizer_of(kind)
    text = "he“No”he“Why”he"
    paragraphs = (Paragraph(text, ((2, 6), (8, 13))),)
    chapter = Chapter("0", 1, "en", paragraphs, (0, 1), np.zeros((2, len(FEATURES)), np.float32))
    encoding = encode_text(chapter, plain_of(kind), 64, 8)
    tokens = tokens_of(encoding)
    said = [decoded(tokenizer, tokens[low:high]) for low, high in encoding.utterances]
    between = [decoded(tokenizer, tokens[low:high]) for low, high in encoding.narration]
    assert (said, between) == (["“no”", "“why”"], ["he", "he"])


def test_a_token_that_two_utterances_share():
    # BPE on bytes has one token for two marks that touch, where they are frequent.
    text = "“No.”“No.”"
    tokenizer = bytes_tokenizer([text] * 50)
    paragraphs = (Paragraph(text, ((0, 5), (5, 10))),)
    chapter = Chapter("0", 1, "en", paragraphs, (0, 1), np.zeros((2, len(FEATURES)), np.float32))
    encoding = encode_text(chapter, plain_tokenizer(tokenizer.backend_tokenizer), 64, 8)
    (a, b), (c, d) = encoding.utterances
    assert (a, b, d) == (0, c, encoding.n_tokens - 1)
    assert encoding.narration == ((0, 0), (c, c))


def test_an_utterance_longer_than_the_window():
    tokenizer = tokenizer_of()
    speech = "“" + "He wanted to talk. " * 30 + "”"
    chapter = chapter_of("“No.”", speech, "“No.”")
    encoding = encode_text(chapter, plain_of(), 40, 8)
    tokens = tokens_of(encoding)
    first, last = encoding.utterances[1]
    assert last - first > 40
    assert decoded(tokenizer, tokens[first:last]) == bare(speech)


@pytest.mark.parametrize(("window", "margin"), [(18, 8), (10, 8), (2, 0)])
def test_margins_that_leave_no_room_are_refused(window, margin):
    with pytest.raises(InputError) as error:
        encode_text(of_words(3), plain_of(), window, margin)
    assert str(error.value) == (
        f"found a window of {window} tokens and margins of {margin}, expected room between them"
    )
    assert encode_text(of_words(30), plain_of(), 2 * margin + 3, margin).n_tokens == 31


@pytest.mark.parametrize("kind", KINDS)
def test_the_tokens_at_the_ends_are_those_that_the_tokenizer_puts_there(kind):
    tokenizer = tokenizer_of(kind)
    expected = tokenizer.cls_token_id, tokenizer.sep_token_id
    assert find_special_tokens(plain_of(kind)) == expected


@pytest.mark.parametrize(("ends", "n"), [("$A", 0), ("<s> $A", 1), ("<s> $A </s> </s>", 3)])
def test_a_tokenizer_that_does_not_put_one_token_at_each_end_is_refused(ends, n):
    tokenizer = Tokenizer.from_str(plain_of("roberta").to_str())
    tokens = [(name, tokenizer.token_to_id(name)) for name in ("<s>", "</s>")]
    tokenizer.post_processor = TemplateProcessing(single=ends, special_tokens=tokens)
    line = f"found a tokenizer that adds {n} tokens to a text, expected that of an encoder, "
    for refused in (find_special_tokens, plain_tokenizer):
        with pytest.raises(InputError) as error:
            refused(tokenizer)
        assert str(error.value) == line + "which adds one at each end"


def test_a_tokenizer_that_cuts_and_pads_texts_is_used_without():
    tokenizer = Tokenizer.from_str(plain_of().to_str())
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding(length=40)
    chapter = chapter_of("“Come,” said the postman, “and see.”", "“No.”")
    expected = encode_text(chapter, plain_of(), 64, 8)
    assert encode_text(chapter, plain_tokenizer(tokenizer), 64, 8) == expected
    assert (tokenizer.truncation["max_length"], tokenizer.padding["length"]) == (5, 40)


@pytest.mark.parametrize("kind", KINDS)
def test_spans_alone(kind):
    tokenizer = tokenizer_of(kind)
    chapter = chapter_of(
        "He wanted to talk. “Come,” said the postman, “and see.” She set it down.",
        "The wind got up.",
        "“No.” “Why?”",
        "And that was all.",
    )
    encoding = encode_spans(chapter, plain_of(kind), 64)
    tokens = tokens_of(encoding)
    said = [decoded(tokenizer, tokens[low:high]) for low, high in encoding.utterances]
    assert said == ["“come,”", "“andsee.”", "“no.”", "“why?”"]
    between = [decoded(tokenizer, tokens[low:high]) for low, high in encoding.narration]
    assert between == ["hewantedtotalk.", "saidthepostman,", "shesetitdown.thewindgotup.", ""]
    # Each is a text with its own ends; none for the narration that is not there.
    assert len(encoding.windows) == 7
    for window in encoding.windows:
        assert window.taken == (0, len(window.ids) - 2)
        assert (window.ids[0], window.ids[-1]) == (tokenizer.cls_token_id, tokenizer.sep_token_id)


def test_a_span_alone_is_cut_off_at_the_window():
    tokenizer = tokenizer_of()
    chapter = chapter_of("“" + "the " * 60 + "”", "the " * 50, "“No.”")
    encoding = encode_spans(chapter, plain_of(), 20)
    tokens = tokens_of(encoding)
    assert encoding.utterances == ((0, 18), (36, 40))
    assert encoding.narration == ((0, 0), (18, 36))
    assert [len(window.ids) for window in encoding.windows] == [20, 20, 6]
    assert decoded(tokenizer, tokens[:18]) == "“" + "the" * 17
    assert decoded(tokenizer, tokens[18:36]) == "the" * 18
    assert decoded(tokenizer, tokens[36:]) == "“no.”"


def test_spans_alone_do_not_see_one_another():
    alone = encode_spans(chapter_of("“No.”"), plain_of(), 20).windows
    more = chapter_of("“Come.”", "The wind got up.", "“No.”")
    beside = encode_spans(more, plain_of(), 20).windows
    assert alone[0].ids == beside[-1].ids


def test_the_middle_of_long_speech_and_narration_is_left_out():
    chapter = chapter_of("“" + "alpha " * 40 + "omega,” he said. " + "Rain fell. " * 30)
    whole = encode_text(chapter, plain_of(), WHOLE, 8)
    short = encode_text(chapter, plain_of(), WHOLE, 8, ends=5)
    (low, high), (whole_low, whole_high) = short.utterances[0], whole.utterances[0]
    assert high - low == 10
    assert short.n_tokens == 10 + 10 + 1  # the speech, the narration, the end of the paragraph
    tokens, all_tokens = tokens_of(short), tokens_of(whole)
    assert tokens[low:high] == [
        *all_tokens[whole_low : whole_low + 5],
        *all_tokens[whole_high - 5 : whole_high],
    ]
    assert tokens[high : high + 5] == all_tokens[whole_high : whole_high + 5]


def test_short_speech_and_narration_are_kept_whole():
    chapter = chapter_of("“Come,” said she.", "“No.”")
    whole = encode_text(chapter, plain_of(), 64, 8)
    assert encode_text(chapter, plain_of(), 64, 8, ends=24) == whole


def test_no_window_of_a_long_chapter_is_shorter_than_another():
    encoding = encode_text(of_words(*[30] * 20), plain_of(), 64, 8)
    assert {len(window.ids) for window in encoding.windows} == {64}


@given(
    st.lists(st.integers(1, 70), max_size=40),
    st.sampled_from([1, 8, 64]),
    st.sampled_from([1, 64, 300]),
)
def test_batches_hold_every_window_once_and_pad_little(sizes, step, tokens):
    windows = [Window((5,) * size, (0, max(size - 2, 0)), 0) for size in sizes]
    seen = []
    for length, numbers in batch_windows(windows, step, tokens):
        assert all(0 <= length - sizes[n] < step for n in numbers)
        assert length <= max(sizes)
        assert len(numbers) == 1 or length * len(numbers) <= tokens
        assert numbers == sorted(numbers) != []
        seen += numbers
    assert sorted(seen) == list(range(len(sizes)))
