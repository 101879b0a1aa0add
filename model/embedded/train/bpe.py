"""Train the tokeniser and encode the corpus.

    python3 bpe.py DIR

reads DIR/train.txt and DIR/valid.txt (documents ended by NUL bytes; .xz is read too), and writes tokenizer.json,
train.u16 and valid.u16 (token ids, <|endoftext|> after each document) beside them.

The tokeniser is byte-level BPE with the pre-tokeniser that GGUF calls "qwen2": it splits digits one by one.
"""

import json
import lzma
import os
import sys

import numpy as np
import tokenizers
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 4096
MAX_TOKEN_BYTES = 16
END_OF_TEXT = "<|endoftext|>"

# What the qwen2 pre-tokeniser splits at: contractions, words with at most one leading character that is neither
# letter nor digit, single digits, runs of punctuation with the line ends after them, line ends, white space.
PRE_TOKENIZER = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def read_documents(path):
    """The documents of a corpus file, as strings."""
    if os.path.exists(path + ".xz"):
        with lzma.open(path + ".xz", "rb") as f:
            data = f.read()
    else:
        with open(path, "rb") as f:
            data = f.read()
    return [d.decode("utf-8") for d in data.split(b"\0")[:-1]]


def train(documents):
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PRE_TOKENIZER), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        max_token_length=MAX_TOKEN_BYTES,
        show_progress=False,
    )
    tok.train_from_iterator(documents, trainer, length=len(documents))
    assert tok.get_vocab_size() == VOCABULARY, tok.get_vocab_size()
    return tok


def encode(tok, documents):
    end = tok.token_to_id(END_OF_TEXT)
    parts = []
    for i in range(0, len(documents), 512):
        for e in tok.encode_batch_fast(documents[i : i + 512], add_special_tokens=False):
            parts.append(np.array(e.ids + [end], dtype=np.uint16))
    return np.concatenate(parts)


def token_bytes(tok):
    """The bytes of each token, by id."""
    # The byte-level alphabet: printable bytes stand for themselves, the others for code points from 256 on.
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    byte_of = {chr(b): b for b in plain}
    rest = [b for b in range(256) if b not in plain]
    byte_of.update({chr(256 + i): b for i, b in enumerate(rest)})
    out = [b""] * tok.get_vocab_size()
    for text, i in tok.get_vocab().items():
        if text != END_OF_TEXT:
            out[i] = bytes(byte_of[c] for c in text)
    return out


def main(directory):
    print(f"tokenizers {tokenizers.__version__}")
    documents = read_documents(os.path.join(directory, "train.txt"))
    path = os.path.join(directory, "tokenizer.json")
    if os.path.exists(path):
        tok = Tokenizer.from_file(path)
    else:
        tok = train(documents)
        tok.save(path)
    figures = {}
    for split in ("train", "valid"):
        if split == "valid":
            documents = read_documents(os.path.join(directory, "valid.txt"))
        ids = encode(tok, documents)
        ids.tofile(os.path.join(directory, split + ".u16"))
        size = sum(len(d.encode("utf-8")) for d in documents)
        figures[split] = {"documents": len(documents), "bytes": size, "tokens": len(ids)}
        print(f"{split}: {len(documents)} documents, {size} bytes, {len(ids)} tokens, {size / len(ids):.3f} bytes/token")
    with open(os.path.join(directory, "corpus.json"), "w") as f:
        json.dump(figures, f)


if __name__ == "__main__":
    main(sys.argv[1])
