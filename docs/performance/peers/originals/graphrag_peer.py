# Microsoft GraphRAG (PyPI graphrag): its index, local search and update, with the settings that init writes.
import common as c
import asyncio, os, re, subprocess, sys
from importlib.metadata import version
from pathlib import Path
c.who = "GraphRAG " + version("graphrag")

def run(*args):
    done = subprocess.run([Path(sys.executable).parent / "graphrag", *args], cwd=c.work, capture_output=True, text=True)
    if done.returncode: sys.exit(done.stdout[-2000:] + done.stderr[-2000:])

run("init", "--root", ".", "--force", "--model", "fake", "--embedding", "fake-embed")
settings = Path(c.work, "settings.yaml")
text = re.sub(r"(model: fake(-embed)?\n)", rf"\1    api_base: {c.base}/v1\n", settings.read_text())
settings.write_text(text.replace("type: lancedb", "type: lancedb\n  vector_size: 384"))
for i, d in enumerate(c.docs): Path(c.work, "input", f"d{i:05d}.txt").write_text(d)
with c.Step("indexing"): run("index", "--root", ".")

import pandas as pd, graphrag.api as api
from graphrag.config.load_config import load_config
os.chdir(c.work)
config = load_config(Path("."))
T = {k: pd.read_parquet(f"output/{k}.parquet") for k in ("entities", "communities", "community_reports", "text_units", "relationships")}

async def ask():
    asked, first = [], None
    for q in c.questions[:None if c.OUT != "-" else 21]:
        _, found = await api.local_search(config=config, covariates=None, community_level=2, response_type="Multiple Paragraphs", query=q, **T)
        first = first or c.cpu()  # the first question opens the tables
        asked.append((list(found["entities"]["entity"]), [], []))
    c.each("a question", len(asked) - 1, first)
    return {"local": asked}

c.pack("output", *(f"{k}.parquet" for k in ("text_units", "entities", "relationships")))
asked = asyncio.run(ask())
Path("input", "new.txt").write_text(c.NOTE)
with c.Step("an insert"): run("update", "--root", ".")
c.peak()
covered = {e for of in T["communities"].entity_ids for e in of}
e = T["entities"]
asked["covered"] = [([t for i, t in zip(e.id, e.title) if i in covered], [], [])]
c.keep(e.title, [(r.source, r.target, float(r.weight)) for r in T["relationships"].itertuples()], asked)
