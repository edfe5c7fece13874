# SPDX-License-Identifier: Apache-2.0
"""Leiden of igraph on graphs that main.go wrote: one JSON line for each run.

Usage: leiden.py PASSES SEEDS FILE...
A file holds the number of nodes as an int32, then an int32 pair and a float32
weight for each edge, all little-endian.
"""
import json
import random
import resource
import sys
import time

import igraph
import numpy


def read(path):
    n = int(numpy.fromfile(path, dtype="<i4", count=1)[0])
    rows = numpy.fromfile(path, dtype=[("u", "<i4"), ("v", "<i4"), ("w", "<f4")], offset=4)
    pairs = numpy.stack([rows["u"], rows["v"]], axis=1)
    return igraph.Graph(n, pairs), rows["w"].astype(float).tolist()


def main():
    passes, seeds = int(sys.argv[1]), int(sys.argv[2])
    for path in sys.argv[3:]:
        graph, weights = read(path)
        for seed in range(seeds):
            random.seed(seed)
            igraph.set_random_number_generator(random)
            begin = time.process_time()
            found = graph.community_leiden(
                objective_function="modularity", weights=weights,
                resolution_parameter=1, beta=0.01, n_iterations=passes)
            cpu = time.process_time() - begin
            print(json.dumps({
                "graph": path, "seed": seed, "cpu": cpu, "communities": len(found),
                "modularity": graph.modularity(found, weights=weights),
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }), flush=True)


main()
