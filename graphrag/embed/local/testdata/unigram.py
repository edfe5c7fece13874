# Makes unigram.json: a small SentencePiece vocabulary trained over notes in twelve languages, what
# the library tokenizers makes of texts with it, and what PyTorch computes of these with the model
# that TestUnigram writes. Run it beside this file with
#
#   python3 unigram.py > unigram.json          # sentencepiece 0.2, protobuf 5, tokenizers 0.20, transformers 4.46
#   WILDGRAPH_UNIGRAM=FOLDER go test -run TestUnigram ./graphrag/embed/local
#   python3 unigram.py FOLDER > unigram.json   # torch 2.4
import glob, json, sys, tempfile
import sentencepiece, tokenizers
import transformers as tf
from transformers.convert_slow_tokenizer import convert_slow_tokenizer

# What becomes one spelling: full width, ligatures, signs, blanks; some that begin with one another.
RULES = """FF21\t41
FF41\t61
FB01\t66 69
A0\t20
9\t20
A\t20
D\t20
200B\t
2026\t2E 2E 2E
65 301\tE9
61 301\tE1
61 301 327\t61 327 301
BD\t31 2044 32
3000\t20
FF01\t21
1F44B\t68 69
212B\tC5
"""
TEXTS = ["", " ", "a", "Wer ist der Hafenmeister?", "  two  blanks\tand a\nline\r\n\r\nhere  ", "Quand part le bac de l’île ?", "今天几点开船？", "東京へ行きます。",
         "Кто председатель клуба?", "Ａａ ﬁn… ½ Å！", "cafe\u0301 a\u0301\u0327 a\u0301\u0301 e\u0301", "zero\u200bwidth\u3000wide", "👋 hi 👨‍👩‍👧 🇩🇪 ok", "قطة बिल्ली",
         "<s> </s> <mask>a  <mask> b<unk>", "x<pad>y <mas k>", "▁under▁ ▁▁ score", "ﬁﬁ" * 40, "naïve Ångström coöperate", "1.250 Mitglieder, 4,20 Euro; 7.30 Uhr", "a" * 90,
         "e\u0301\u0302\u0303\u0304 \u0301 alone \u200d joiner क्षि", "The pump must be oiled every 500 hours. " * 12]
VECTORS = [3, 6, 9, 14, 22]
SPLIT = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}]}


def trained():
    lines = []
    for file in sorted(glob.glob("../../../../examples/ask/testdata/languages/*.json")):
        notes = json.load(open(file, encoding="utf-8"))
        lines += notes["notes"] + [q["question"] for q in notes["questions"]]
    with tempfile.TemporaryDirectory() as d:
        open(d + "/rules.tsv", "w").write(RULES)
        open(d + "/text", "w", encoding="utf-8").write("\n".join(lines))
        sentencepiece.SentencePieceTrainer.train(input=d + "/text", model_prefix=d + "/m", vocab_size=750, model_type="unigram", character_coverage=0.98,
                                                 normalization_rule_tsv=d + "/rules.tsv", minloglevel=2)
        slow = tf.XLMRobertaTokenizer(d + "/m.model")
        fast = tf.XLMRobertaTokenizerFast(tokenizer_object=convert_slow_tokenizer(slow))
        return json.loads(fast.backend_tokenizer.to_str())


def variants(base):
    yield {}
    yield {"pre_tokenizer": SPLIT, "normalizer": base["normalizer"]["normalizers"][0]}  # as multilingual-e5
    yield {"normalizer": {"type": "NFKC"}}
    pieces = [[f"<0x{c:02X}>", -20.0] for c in range(256)]
    yield {"model": {**base["model"], "byte_fallback": True, "vocab": base["model"]["vocab"] + pieces}}


def cut(ids, room=118):
    return ids if len(ids) <= room else ids[:room - 1] + ids[-1:]


if len(sys.argv) == 1:
    base = trained()
    out = {"tokenizer": base, "texts": TEXTS, "variants": []}
    for v in variants(base):
        t = tokenizers.Tokenizer.from_str(json.dumps({**base, **v}))
        ids = [t.encode(text).ids for text in TEXTS]
        out["variants"].append({"change": {k: x for k, x in v.items() if k != "model"}, "bytes": "model" in v, "ids": ids})
else:
    import torch
    out = json.load(open("unigram.json", encoding="utf-8"))
    model = tf.XLMRobertaModel.from_pretrained(sys.argv[1]).eval()
    with torch.no_grad():
        out["vectors"] = {i: model(torch.tensor([cut(out["variants"][0]["ids"][i])])).last_hidden_state[0].mean(0).double().numpy().round(6).tolist() for i in VECTORS}
json.dump(out, sys.stdout, ensure_ascii=False)
