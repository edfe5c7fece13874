# LightRAG (PyPI lightrag-hku).
import common as c
import asyncio, logging
import numpy as np, httpx, networkx as nx
from importlib.metadata import version
from lightrag import LightRAG, QueryParam
from lightrag.llm.openai import openai_complete_if_cache
from lightrag.utils import EmbeddingFunc
logging.disable(logging.INFO)
c.who = "LightRAG " + version("lightrag-hku")
client = httpx.AsyncClient(timeout=60)

async def model(prompt, system_prompt=None, history_messages=[], **kw):
    return await openai_complete_if_cache("fake", prompt, system_prompt=system_prompt, history_messages=history_messages, base_url=c.base + "/v1", api_key="x")

async def embed(texts, **_):
    r = await client.post(c.base + "/v1/embeddings", json={"model": "fake-embed", "input": list(texts)})
    return np.array([d["embedding"] for d in r.json()["data"]], dtype=np.float32)

async def main():
    rag = LightRAG(working_dir=c.work, llm_model_func=model, embedding_func=EmbeddingFunc(embedding_dim=384, max_token_size=8192, func=embed),
                   llm_model_max_async=8, embedding_func_max_async=8, max_parallel_insert=8, enable_llm_cache=False, tiktoken_model_name="gpt-4")
    await rag.initialize_storages()
    ids = [f"d{i:05d}" for i in range(len(c.docs))]
    with c.Step("indexing"): await rag.ainsert(c.docs, ids=ids, file_paths=ids)
    g = nx.read_graphml(f"{c.work}/graph_chunk_entity_relation.graphml")
    c.pack(c.work, "graph_chunk_entity_relation.graphml", "kv_store_text_chunks.json")
    asked = {}
    for mode in ("local", "global", "hybrid", "mix"):
        begun = c.cpu()
        for q in c.questions:
            d = (await rag.aquery_data(q, param=QueryParam(mode=mode, enable_rerank=False))).get("data") or {}
            asked.setdefault(mode, []).append(([e["entity_name"] for e in d.get("entities", [])], [(r["src_id"], r["tgt_id"]) for r in d.get("relationships", [])],
                                               [int(p["file_path"][1:]) for p in d.get("chunks", [])]))
        if mode == "hybrid": c.each("a question", len(c.questions), begun)
    with c.Step("an insert"): await rag.ainsert([c.NOTE], ids=["d99999"], file_paths=["d99999"])
    with c.Step("a delete"): await rag.adelete_by_doc_id("d99999")
    c.peak()
    c.keep(g.nodes, [(a, b, float(d["weight"])) for a, b, d in g.edges(data=True)], asked)
    await rag.finalize_storages()

asyncio.run(main())
