# SPDX-License-Identifier: Apache-2.0
"""Writes run.txt, qrels.txt and golden.json: random rankings with ties, graded
and negative levels, and what trec_eval's code makes of them.

pip install pytrec_eval-terrier==0.5.11 && python3 golden.py

One evaluator per query: evaluators keep state between calls. Scores
differ within float32, which is how pytrec_eval holds them.
"""
import json, random
import pytrec_eval

rng = random.Random(7)
qrels, run = {}, {}
for i in range(40):
    q = f"q{i}"
    docs = [f"d{j}" for j in range(rng.choice([3, 8, 25, 60]))]
    levels = rng.choice([[0, 1], [-1, 0, 0, 1, 2, 3], [0, 0, 0, 0, 1], [1, 2], [0]])
    qrels[q] = {d: rng.choice(levels) for d in docs if rng.random() < .7} or {docs[0]: 1}
    scores = rng.choice([lambda: rng.random(), lambda: float(rng.randrange(4)), lambda: 1.0, lambda: 1 + rng.randrange(9) * 1e-6, lambda: -rng.random() * 1e30])
    run[q] = {d: scores() for d in docs if rng.random() < .6} or {docs[0]: 1.0}

with open("qrels.txt", "w") as f:
    rows = [(q, d, l) for q in qrels for d, l in qrels[q].items()]
    rng.shuffle(rows)
    for q, d, l in sorted(rows, key=lambda r: int(r[0][1:]) % 3): f.write(f"{q} 0 {d} {l}\n")
with open("run.txt", "w") as f:
    for q in run:
        for rank, (d, s) in enumerate(run[q].items()): f.write(f"{q}\tQ0\t{d}\t{rank}\t{s!r}\tx\n")

NAMES = {"recip_rank": "RR", "ndcg_cut_10": "nDCG@10", "recall_10": "recall@10"}
golden = {}
for q in run:
    values = pytrec_eval.RelevanceEvaluator({q: qrels[q]}, {"recip_rank", "ndcg_cut.10", "recall.10"}).evaluate({q: run[q]})[q]
    for theirs, ours in NAMES.items(): golden.setdefault(ours, {})[q] = round(values[theirs], 9)
with open("golden.json", "w") as f: json.dump(golden, f, separators=(",", ":"))
