# What the drivers of the originals share: arguments BASE DATA N ROUND SET OUT, figures and results.
import gzip, json, os, resource, sys, tempfile, time, urllib.request, zipfile
base, N, ROUND, SET, OUT = "http://" + sys.argv[1], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], sys.argv[6]
OUT = OUT if OUT == "-" else os.path.abspath(OUT)
data = json.load(open(sys.argv[2]))
docs, questions = [p["title"] + "\n" + p["text"] for p in data["passages"][:N]], data["questions"]
NOTE = "A new note\nAda Lovelace wrote to Charles Babbage in London about the Analytical Engine, and Babbage answered her from Dorset Street."
os.environ.update(OPENAI_API_KEY="x", OPENAI_BASE_URL=base + "/v1", GRAPHRAG_API_KEY="x", LITELLM_LOCAL_MODEL_COST_MAP="True")
work = tempfile.mkdtemp()
who = ""

def get(path):
    return urllib.request.urlopen(base + path).read().decode()

def cpu():
    return sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])

def show(what, value, unit=""):
    figure = {"set": SET, "who": who, "round": ROUND, "what": what, "value": value}
    figure.update({"unit": unit} if unit else {"plain": True})
    print(json.dumps(figure), flush=True)

class Step:
    """Measures a step, and the calls and tokens that it asks for."""
    def __init__(self, what): self.what = what
    def __enter__(self): get("/reset"); self.begun = cpu()
    def __exit__(self, failed, *_):
        if failed: return
        show(self.what, cpu() - self.begun, "CPU s")
        c = json.loads(get("/count"))
        show(self.what + ": calls", c["calls"]); show(self.what + ": thousand tokens", c["asked"] / 1000)

def each(what, n, begun): show(what, 1000 * (cpu() - begun) / n, "CPU ms")
def peak(): show("memory, peak", max(resource.getrusage(x).ru_maxrss for x in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024, "MB")

def keep(nodes, edges, asked):
    """Writes names, weights and ranks: asked has for each mode a list of (entities, relations, passages)."""
    if OUT == "-": return
    if "-hard" in OUT: asked = {}  # ranks of hard replies differ with their names
    nodes = sorted(nodes); at = {n: i for i, n in enumerate(nodes)}
    def number(name): return at.setdefault(name, len(at))
    out = {"edges": sorted([at[a], at[b], round(w, 4)] for a, b, w in edges),
           "asked": {m: [[[number(e) for e in es], [[number(a), number(b)] for a, b in rs], ps] for es, rs, ps in qs] for m, qs in asked.items()}}
    out = {"nodes": list(at), "count": len(nodes), **out}
    with gzip.GzipFile(OUT, "wb", 9, mtime=0) as f: f.write(json.dumps(out, ensure_ascii=False, separators=(",", ":")).encode())

def pack(folder, *names):
    """Writes files of a finished index, which graphrag/foreign opens, beside the results."""
    if OUT == "-" or "-hard" in OUT: return
    with zipfile.ZipFile(OUT.replace(".json.gz", ".zip"), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name in names:
            with open(os.path.join(folder, name), "rb") as f: z.writestr(zipfile.ZipInfo(name), f.read(), zipfile.ZIP_DEFLATED, 9)
