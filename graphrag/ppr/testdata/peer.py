"""Time igraph's prpack on the edges and reset vectors of BenchmarkSolve.

usage: peer.py FOLDER DAMPING, where FOLDER holds edges.i32 (pairs of nodes),
weights.f32 (may be absent), resets.json ({"nodes": n, "resets": [[node]]}).
Prints one JSON object: CPU milliseconds of each query; writes the vector of the
first to first.f64.
"""
import json, sys, time
import igraph, numpy

folder, damping = sys.argv[1], float(sys.argv[2])
queries = json.load(open(folder + "/resets.json"))
graph = igraph.Graph(n=queries["nodes"])
graph.add_edges(numpy.fromfile(folder + "/edges.i32", dtype=numpy.int32).reshape(-1, 2))
try:
    weights = numpy.fromfile(folder + "/weights.f32", dtype=numpy.float32).tolist()
except FileNotFoundError:
    weights = None
times = []
for i, nodes in enumerate(queries["resets"]):
    reset = numpy.zeros(queries["nodes"])
    reset[nodes] = 1
    reset = reset.tolist()
    start = time.process_time()
    x = graph.personalized_pagerank(
        directed=False, weights=weights, reset=reset, damping=damping, implementation="prpack")
    times.append(1000 * (time.process_time() - start))
    if i == 0:
        numpy.array(x).tofile(folder + "/first.f64")
print(json.dumps({"igraph": igraph.__version__, "ms": times}))
