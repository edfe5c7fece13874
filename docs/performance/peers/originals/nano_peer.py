# nano-graphrag (PyPI).
import common as c
import asyncio, logging
import numpy as np
from importlib.metadata import version
from openai import AsyncOpenAI
from nano_graphrag import GraphRAG, QueryParam
from nano_graphrag._utils import wrap_embedding_func_with_attrs
logging.disable(logging.INFO)
c.who = "nano-graphrag " + version("nano-graphrag")
client = AsyncOpenAI(base_url=c.base + "/v1", api_key="x")

async def model(prompt, system_prompt=None, history_messages=[], **kw):
    messages = ([{"role": "system", "content": system_prompt}] if system_prompt else []) + history_messages + [{"role": "user", "content": prompt}]
    r = await client.chat.completions.create(model="fake", messages=messages, **{k: v for k, v in kw.items() if k in ("response_format", "max_tokens")})
    return r.choices[0].message.content

@wrap_embedding_func_with_attrs(embedding_dim=384, max_token_size=8192)
async def embed(texts):
    r = await client.embeddings.create(model="fake-embed", input=texts, encoding_format="float")
    return np.array([d.embedding for d in r.data])

async def main():
    rag = GraphRAG(working_dir=c.work, best_model_func=model, cheap_model_func=model, embedding_func=embed, tiktoken_model_name="gpt-4", best_model_max_async=8, cheap_model_max_async=8)
    with c.Step("indexing"): await rag.ainsert(c.docs)
    begun = c.cpu()
    for q in c.questions: await rag.aquery(q, param=QueryParam(mode="local", only_need_context=True))
    c.each("a question", len(c.questions), begun)
    with c.Step("an insert"): await rag.ainsert(c.NOTE)
    c.peak()

asyncio.run(main())
