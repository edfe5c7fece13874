"""The peers of dense search: peers.py WHO DATA ROUND prints figures, a line of JSON each.

DATA.f32 holds unit vectors of 384 float32, the last 1,000 of them queries; DATA.truth
the ten nearest rows of each query, from a product in float64.
"""
import json
import os
import sys
import time

import numpy as np

DIM, QUERIES, K = 384, 1000, 10


def load(data):
    v = np.fromfile(data + ".f32", dtype=np.float32).reshape(-1, DIM)
    return v[:-QUERIES], v[-QUERIES:]


def least(passes, do):
    """The least CPU time of some passes, in seconds."""
    best = float("inf")
    for _ in range(passes):
        start = time.process_time()
        do()
        best = min(best, time.process_time() - start)
    return best


def recall(data, found):
    truth = np.fromfile(data + ".truth", dtype=np.int32).reshape(QUERIES, K)
    return float(np.mean([len(set(a) & set(b)) for a, b in zip(truth, found)])) / K


class Figures:
    def __init__(self, rows, who, number):
        self.fixed = {"set": f"{rows:,} rows", "who": who, "round": number}

    def show(self, what, value, unit="", plain=False):
        f = dict(self.fixed, what=what, value=value)
        if unit:
            f["unit"] = unit
        if plain:
            f["plain"] = True
        print(json.dumps(f, ensure_ascii=False), flush=True)


def truth(data, rows, queries, number):
    best = np.empty((QUERIES, K), np.int32)
    scores = np.empty((QUERIES, len(rows)), np.float32)
    for i in range(0, len(rows), 50000):
        scores[:, i : i + 50000] = queries @ rows[i : i + 50000].T
    for q in range(QUERIES):
        near = np.argpartition(-scores[q], 100)[:100]
        exact = rows[near].astype(np.float64) @ queries[q].astype(np.float64)
        best[q] = near[np.lexsort((near, -exact))[:K]]
    best.tofile(data + ".truth")


def numpy_(data, rows, queries, number):
    some = queries[:20]
    show = Figures(len(rows), f"numpy {np.__version__}, product alone", number).show
    show("one query, exact", 1e3 * least(3, lambda: [rows @ q for q in some]) / len(some), "CPU ms")


def faiss(data, rows, queries, number):
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(DIM)
    index.add(rows)
    some = queries[:20]
    show = Figures(len(rows), f"faiss {faiss.__version__} flat", number).show
    show("one query, exact", 1e3 * least(2, lambda: [index.search(q[None], K) for q in some]) / len(some), "CPU ms")
    show("recall@10, exact", recall(data, index.search(queries, K)[1]), plain=True)


if __name__ == "__main__":
    who, data, number = sys.argv[1:]
    {"truth": truth, "numpy": numpy_, "faiss": faiss}[who](data, *load(data), int(number))
