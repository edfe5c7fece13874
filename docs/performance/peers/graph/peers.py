"""The peers of graphs: peers.py DATA ROUND prints figures, a line of JSON each."""
import json
import random
import sys
import time

import igraph
import numpy as np

data, number = sys.argv[1], int(sys.argv[2])
ends = np.fromfile(data + ".edges", np.int32).reshape(-1, 2)
weights = np.fromfile(data + ".weights", np.float64)
with open(data + ".resets") as f:
    read = json.load(f)
n, resets = read["n"], read["resets"]


def show(who, what, value, unit=""):
    f = {"set": read["set"], "who": who, "round": number, "what": what, "value": value}
    f.update({"unit": unit} if unit else {"plain": True})
    print(json.dumps(f), flush=True)


def cpu(do):
    start = time.process_time()
    out = do()
    return time.process_time() - start, out


g = igraph.Graph(n, ends)
who = f"igraph {igraph.__version__}"
random.seed(number)
took, parts = cpu(lambda: g.community_leiden("modularity", weights=weights, n_iterations=2, beta=0.01))
show(who, "Leiden, two passes", took, "CPU s")
show(who, "modularity", g.modularity(parts.membership, weights=weights))
g.es["weight"] = weights
for damping in (0.5, 0.85):
    took = sum(
        cpu(lambda s=s: g.personalized_pagerank(damping=damping, reset_vertices=s, weights="weight", directed=False))[0]
        for s in (resets[0], resets[len(resets) // 2])
    ) / 2
    show(who + ", prpack", f"PageRank, damping {damping}, one query, residual 1e-9", 1e3 * took, "CPU ms")
