"""The peers of k-means: peers.py lloyd|elkan|faiss VECTORS ROUND prints figures, a line of JSON each."""
import json
import os
import sys
import time

# OpenBLAS takes a processor newer than itself for one of 2004: name it.
flags = open("/proc/cpuinfo").read()
if "avx2" in flags:
    os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX" if "avx512vl" in flags else "Haswell")
import numpy as np

peer, data, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
rows, dim, k, iterations = 200_000, 384, 200, 20
x = np.fromfile(data, np.float32).reshape(rows, dim)
start = x[:: rows // k][:k].copy()


def show(who, what, value, **more):
    f = {"set": f"{rows} vectors of {dim}, {k} clusters", "who": who, "round": number, "what": what, "value": value}
    print(json.dumps({**f, **more}), flush=True)


if peer == "faiss":
    import faiss

    faiss.omp_set_num_threads(1)
    means = faiss.Kmeans(dim, k, niter=iterations, max_points_per_centroid=rows)
    begun = time.process_time()
    means.train(x, init_centroids=start)
    took = time.process_time() - begun
    who = f"faiss {faiss.__version__}"
    inertia = float(means.index.search(x, 1)[0].astype(np.float64).sum())
else:
    import sklearn
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    means = KMeans(n_clusters=k, init=start, n_init=1, max_iter=iterations, tol=0, algorithm=peer)
    with threadpool_limits(1):
        begun = time.process_time()
        means.fit(x)
        took = time.process_time() - begun
    who, inertia = f"scikit-learn {sklearn.__version__}, {peer}", float(means.inertia_)
show(who, f"{iterations} iterations", took, unit="CPU s")
show(who, "inertia", inertia, plain=True)
