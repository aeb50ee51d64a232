"""The nano policy's tokenizer: byte-level BPE in which a value is spelt alike wherever it stands.

A small model copies a value token by token, so `Ada` must be the same tokens in `for Ada`, `"name": "Ada"` and `is
Ada.`: only very common words of English may take the space before them into their token, numbers are cut into pairs
of digits from the left, and the punctuation of JSON and of signatures (`": "`, `", "`, `"}`) makes tokens of its own.
"""

from collections.abc import Iterable

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

VOCABULARY = 2048
PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
CALL = ("<tool_call>", "</tool_call>")

SPACED = """the of and for with what is are me to get in on from then tell whose find its it that this was not no at
by or as be an a you your my i can could please want need look up those among there where report give check show list
read set add update create delete remove search all each which has have had been if when into out over under result
results id ids name number value values type date time status optional default return returns given new one two first
last only more than between matching start end max min limit count page belongs did do does make use used also any
both but exist exists found""".split()
"""The words that may absorb a space before them."""

_PUNCTUATION = r"""[{}\[\]",:()?|=']"""
PIECES = "|".join(
    (
        rf" (?:{'|'.join(sorted(set(SPACED), key=lambda word: (-len(word), word)))})(?![\p{{L}}\p{{N}}_])",
        r"\p{Lu}?[\p{Ll}\p{M}]+",
        r"\p{Lu}+(?!\p{Ll})",
        r"[\p{L}\p{M}]+?(?=\p{Lu}\p{Ll}|[^\p{L}\p{M}]|$)",
        r"[\p{L}\p{M}]",
        r"[0-9]{1,2}",
        rf"{_PUNCTUATION}+(?: {_PUNCTUATION}+)*(?: (?![\s]))?",
        r"\s",
        r"[^\s\p{L}\p{M}]",
    )
)


def train(texts: Iterable[str], template: str) -> PreTrainedTokenizerFast:
    """Learn the merges from `texts`. The chat template's own tokens are added; the calls' tags are no special tokens,
    so that they stay in decoded text and a parser sees them."""
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(PIECES), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(CALL),
        special_tokens=[PAD, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens([AddedToken(tag, special=False, normalized=False) for tag in CALL])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        clean_up_tokenization_spaces=False,
        model_max_length=4096,
        chat_template=template,
    )
