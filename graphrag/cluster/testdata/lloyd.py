# The peer of BenchmarkKMeans: scikit-learn's Lloyd on one thread.
# lloyd.py FILE ROWS DIM K ITERATIONS [lloyd|elkan] prints CPU seconds and inertia.
# FILE holds ROWS x DIM float32; the start is every (ROWS/K)th row.
import os, sys, time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
# OpenBLAS takes a processor newer than itself for one of 2004: name it.
try:
    flags = open("/proc/cpuinfo").read()
    if "avx2" in flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX" if "avx512vl" in flags else "Haswell")
except OSError:
    pass
import warnings

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

warnings.simplefilter("ignore")
rows, dim, k, iterations = map(int, sys.argv[2:6])
x = np.fromfile(sys.argv[1], dtype=np.float32).reshape(rows, dim)
means = KMeans(n_clusters=k, init=x[:: rows // k][:k].copy(), n_init=1, max_iter=iterations, tol=0,
               algorithm=sys.argv[6] if len(sys.argv) > 6 else "lloyd")
with threadpool_limits(1):
    start = time.process_time()
    means.fit(x)
    seconds = time.process_time() - start
print(seconds, means.inertia_, means.n_iter_)
