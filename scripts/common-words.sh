#!/bin/sh
# Write app/core/people/common_words.txt.gz anew from the lists of zxcvbn, most frequent first.
# Run it only to change what it holds; the result is committed. Needs python3 with zxcvbn (pip install zxcvbn).
set -eu
cd "$(dirname "$0")/.."
python3 - <<'PY'
import gzip
from pathlib import Path

from zxcvbn.matching import RANKED_DICTIONARIES

TAKEN = {"passwords": 30_000, "english_wikipedia": 20_000, "us_tv_and_film": 5_000, "female_names": 1_000, "male_names": 1_000, "surnames": 1_000}
TARGET = Path("app") / "core" / "people" / "common_words.txt.gz"

words = {
    word
    for name, count in TAKEN.items()
    for word, rank in RANKED_DICTIONARIES[name].items()
    if rank <= count and len(word) >= 4
}
text = "".join(f"{word}\n" for word in sorted(words))
TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
print(f"{len(words)} words, {TARGET.stat().st_size} bytes")
PY
