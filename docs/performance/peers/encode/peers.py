"""The peer of sentence encoding: peers.py HOME CORES ROUND prints figures, a line of JSON each;
peers.py HOME 0 0 prints how many tokens the passages have.
"""
import glob
import json
import sys
import time

import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

home, cores, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
texts = json.load(open(home + "/texts.json"))
tokenizer = Tokenizer.from_file(home + "/models/minilm/tokenizer.json")
tokenizer.enable_truncation(256)
tokenizer.no_padding()
ids = [e.ids for e in tokenizer.encode_batch(texts)]
if not cores:
    print(sum(map(len, ids)))
    sys.exit()
order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
BATCH = 16


def show(what, value, unit="", plain=False):
    f = {"set": f"all-MiniLM-L6-v2, {len(texts)} passages of 125 words", "who": f"onnxruntime {ort.__version__}", "round": number, "what": what, "value": value}
    if unit:
        f["unit"] = unit
    if plain:
        f["plain"] = True
    print(json.dumps(f), flush=True)


def encode(session):
    """Passages in order of their length, so that little is padded; the mean of the tokens, of length 1."""
    names = {i.name for i in session.get_inputs()}
    out = np.empty((len(ids), 384), np.float32)
    for at in range(0, len(order), BATCH):
        some = order[at : at + BATCH]
        wide = max(len(ids[i]) for i in some)
        x, mask = np.zeros((len(some), wide), np.int64), np.zeros((len(some), wide), np.int64)
        for r, i in enumerate(some):
            x[r, : len(ids[i])], mask[r, : len(ids[i])] = ids[i], 1
        feed = {"input_ids": x, "attention_mask": mask, "token_type_ids": np.zeros_like(x)}
        hidden = session.run(None, {k: v for k, v in feed.items() if k in names})[0]
        v = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        out[some] = v / np.linalg.norm(v, axis=1, keepdims=True)
    return out


ours = np.fromfile(home + "/ours.f32", np.float32).reshape(2, len(ids), 384)
tokens = sum(map(len, ids))
vectors = {}
for kind, name in (("float32", "all-minilm-l6-v2.onnx"), ("int8", "all-minilm-l6-v2-q.onnx")):
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = cores, 1
    session = ort.InferenceSession(home + "/" + name, options, providers=["CPUExecutionProvider"])
    encode(session)
    best = float("inf")
    for _ in range(2):
        start = time.process_time() if cores == 1 else time.perf_counter()
        vectors[kind] = encode(session)
        best = min(best, (time.process_time() if cores == 1 else time.perf_counter()) - start)
    show(f"{kind}, {'one core' if cores == 1 else 'two cores, wall time'}", tokens / best, "tokens/s")
if cores == 1:
    show("int8, least cosine to float32", float((vectors["int8"] * vectors["float32"]).sum(1).min()), plain=True)
    f = {"set": f"all-MiniLM-L6-v2, {len(texts)} passages of 125 words", "who": "wildgraph", "round": number, "plain": True}
    print(json.dumps(dict(f, what="float32, least cosine to onnxruntime's", value=float((ours[0] * vectors["float32"]).sum(1).min()))))
    print(json.dumps(dict(f, what="int8, least cosine to float32", value=float((ours[1] * ours[0]).sum(1).min()))))
