# SPDX-License-Identifier: Apache-2.0
"""Writes golden.json: what CPython makes of hostile strings.

python3 golden.py > golden.json

golden_test.go builds the same strings and compares. Most results are kept as
checksums (the first 8 hex digits of SHA-256), so that the file stays small.
"""
import hashlib, json, re, string, struct, sys, unicodedata
from collections import Counter

PUNCT = set(string.punctuation)

def normalize(s):
    s = "".join(c for c in s.lower() if c not in PUNCT)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", s).split())

def digest(parts):
    h = hashlib.sha256()
    for p in parts:
        h.update(p)
        h.update(b"\n")
    return h.hexdigest()[:8]

class Rand:  # splitmix64
    def __init__(self, seed): self.x = seed
    def below(self, n):
        self.x = (self.x + 0x9E3779B97F4A7C15) & (1 << 64) - 1
        z = self.x
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        z = (z ^ z >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
        return ((z ^ z >> 31) >> 33) % n

# Every assigned code point in six places.
def contexts(c): return [c, "a" + c + "the", "x" + c + " an" + c, "ΑΣ" + c, "ΑΣ" + c + "Β", c + "Σ"]

assigned, start = [], None
for cp in range(0x110001):
    ok = cp < 0x110000 and unicodedata.category(chr(cp)) not in ("Cn", "Cs")
    if ok and start is None: start = cp
    if not ok and start is not None:
        assigned += [start, cp - 1]
        start = None
blocks = {}
for lo, hi in zip(assigned[::2], assigned[1::2]):
    for cp in range(lo, hi + 1):
        blocks.setdefault(cp >> 10, []).append(cp)
code_points = {f"{b:x}": digest(normalize(s).encode() for cp in cps for s in contexts(chr(cp))) for b, cps in blocks.items()}

# Random strings of hostile tokens.
TOKENS = ["a", "an", "the", "A", "AN", "The", "tHe", " ", "  ", "\t", "\n", "\x1c", "\x1f", "\u00a0", "\u2028", "\u200b", "\u3000",
          "-", "_", "'", "’", ".", "·", "“", "”", "–", "$", "`", "~", "Σ", "Σ", "σ", "ς", "İ", "ı", "ß", "ẞ", "Dž", "K", "ñ", "É", "\u0301",
          "\u0307", "\u0345", "\u00ad", "ʰ", "ⓐ", "Ⓐ", "²", "½", "Ⅷ", "५", "中", "の", "한", "א", "𝔸", "𐐀", "👩‍👩‍👧", "\ufeff", "\x00", "1", "9",
          ",", "yes", "no", "x", "Z", "Newton", "\u0e33", "ﬁ", "\U000e0041"]
def hostile(rand):
    return "".join(TOKENS[rand.below(len(TOKENS))] for _ in range(rand.below(12)))
rand = Rand(1)
BATCHES, PER_BATCH = 300, 1000
random = [digest(normalize(hostile(rand)).encode() for _ in range(PER_BATCH)) for _ in range(BATCHES)]
rand = Rand(2)
samples = [[s, normalize(s)] for s in (hostile(rand) for _ in range(150))]

# Scores of random answers under every profile.
WORDS = ["yes", "no", "noanswer", "the", "a", "an", "Paris", "paris,", "in", "New", "York", "1,000", "1000", "caña", "cana", "é", "—", "-", "Yes!", ""]
def words(rand): return " ".join(WORDS[rand.below(len(WORDS))] for _ in range(rand.below(5)))
def one(p, g, yes_no, empty_agrees):
    p, g = normalize(p), normalize(g)
    if yes_no and p != g and (p in ("yes", "no", "noanswer") or g in ("yes", "no", "noanswer")): return 0.0, 0.0, 0.0
    pt, gt = p.split(), g.split()
    if empty_agrees and (not pt or not gt): return (float(pt == gt),) * 3
    same = sum((Counter(pt) & Counter(gt)).values())
    if not same: return 0.0, 0.0, 0.0
    P, R = same / len(pt), same / len(gt)
    return 2 * P * R / (P + R), P, R
def score(profile, p, golds):
    if profile == "hotpot": golds = golds[:1]
    if profile == "squad2": golds = [g for g in golds if normalize(g)] or [""]
    em = float(any(normalize(p) == normalize(g) for g in golds))
    all = [one(p, g, profile in ("hotpot", "2wiki"), profile in ("squad2", "musique")) for g in golds]
    if profile == "2wiki": return em, *(max(column) for column in zip(*all))
    return em, *max(all, key=lambda s: s[0])  # the first of the best
rand = Rand(3)
PROFILES = ["squad1", "squad2", "hotpot", "2wiki", "musique", "mrqa"]
PAIR_BATCHES = 100
pairs = []
for _ in range(PAIR_BATCHES):
    rows = []
    for _ in range(PER_BATCH):
        p = words(rand)
        golds = [words(rand) for _ in range(1 + rand.below(3))]
        rows.append(b"".join(struct.pack("<d", v) for profile in PROFILES for v in score(profile, p, golds)))
    pairs.append(digest(rows))

json.dump({"python": sys.version.split()[0], "unicode": unicodedata.unidata_version, "assigned": [f"{x:x}" for x in assigned],
           "code_points": code_points, "tokens": TOKENS, "random": random, "samples": samples, "words": WORDS, "pairs": pairs},
          sys.stdout, ensure_ascii=True, separators=(",", ":"))
sys.stdout.write("\n")
