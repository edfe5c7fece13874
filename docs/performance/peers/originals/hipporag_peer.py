# HippoRAG 2, from its repository. torch and transformers are stubs, since the path by OpenAI's interface
# needs them for imports alone; its one function of torch, retrieve_knn, is here in numpy.
import common as c
import importlib.abc, importlib.machinery, os, sys
from unittest.mock import MagicMock
STUBS = ("torch", "transformers", "gritlm", "sentence_transformers", "cohere", "vllm", "accelerate", "boto3", "botocore", "einops", "litellm")

class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in STUBS: return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        module = MagicMock(name=spec.name)
        module.__path__, module.__spec__, module.__name__ = [], spec, spec.name
        if spec.name == "torch": module.Tensor = type("Tensor", (), {})
        return module
    def exec_module(self, module): pass

sys.meta_path.insert(0, Stubs())
sys.path.insert(0, os.environ["HIPPORAG_SRC"])
import numpy as np
import hipporag
from hipporag.utils.config_utils import BaseConfig
H = sys.modules["hipporag.HippoRAG"]

def knn(query_ids, key_ids, query_vecs, key_vecs, k=2047, **_):
    if len(key_vecs) == 0: return {}
    unit = lambda v: np.asarray(v, dtype=np.float32) / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12)
    q, keys, out = unit(query_vecs), unit(key_vecs), {}
    for i in range(0, len(q), 1000):
        s = q[i:i+1000] @ keys.T
        o = np.argsort(-s, axis=1, kind="stable")[:, :k]
        for j in range(len(o)): out[query_ids[i+j]] = ([key_ids[x] for x in o[j]], s[j][o[j]].tolist())
    return out

H.retrieve_knn = knn
c.who = "HippoRAG " + os.environ["HIPPORAG_COMMIT"]
config = BaseConfig(save_dir=c.work, llm_name="fake", llm_base_url=c.base + "/v1", embedding_model_name="text-embedding-fake", embedding_base_url=c.base + "/v1",
                    force_index_from_scratch=True, force_openie_from_scratch=False)
h = H.HippoRAG(global_config=config)
with c.Step("indexing"): h.index(c.docs)
h.prepare_retrieval_objects()
begun = c.cpu()
found = h.retrieve(queries=c.questions, num_to_retrieve=100)
c.each("a question", len(c.questions), begun)
place = {d: i for i, d in reversed(list(enumerate(c.docs)))}
edges = {}
for e in h.graph.es:
    a, b = h.graph.vs[e.source]["content"], h.graph.vs[e.target]["content"]
    if a not in place and b not in place: edges[tuple(sorted((a, b)))] = edges.get(tuple(sorted((a, b))), 0) + e["weight"]
nodes = h.entity_embedding_store.get_all_texts()
with c.Step("an insert"):
    h.index([c.NOTE])
    h.ready_to_retrieve = False
    h.prepare_retrieval_objects()
c.peak()
c.keep(nodes, [(a, b, float(w)) for (a, b), w in edges.items()], {"": [([], [], [place[d] for d in f.docs[:20]]) for f in found]})
