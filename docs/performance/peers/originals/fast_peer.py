# fast-graphrag (PyPI). vertexai is a stub: its protobuf clashes.
import common as c
import importlib.abc, importlib.machinery, sys
from importlib.metadata import version
from unittest.mock import MagicMock

class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("vertexai", "sentencepiece", "voyageai"): return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        module = MagicMock(name=spec.name)
        module.__path__, module.__spec__, module.__name__ = [], spec, spec.name
        return module
    def exec_module(self, module): pass

sys.meta_path.insert(0, Stubs())
from fast_graphrag import GraphRAG, QueryParam
from fast_graphrag._llm import OpenAILLMService, OpenAIEmbeddingService
c.who = "fast-graphrag " + version("fast-graphrag")
model = OpenAILLMService(model="fake", base_url=c.base + "/v1", api_key="x")
embed = OpenAIEmbeddingService(model="fake-embed", base_url=c.base + "/v1", api_key="x", embedding_dim=384)
rag = GraphRAG(working_dir=c.work, domain="Encyclopedia.", example_queries="Who is it?", entity_types=["Other", "Person", "Place"],
               config=GraphRAG.Config(llm_service=model, embedding_service=embed))
with c.Step("indexing"): rag.insert(c.docs, show_progress=False)
begun = c.cpu()
for q in c.questions: rag.query(q, QueryParam(only_context=True))
c.each("a question", len(c.questions), begun)
with c.Step("an insert"): rag.insert([c.NOTE], show_progress=False)
c.peak()
