# Makes heads.json: what PyTorch and the library transformers compute with the folders that
# TestHeadsAreThoseOfPyTorch writes. Run it with
#
#   WILDGRAPH_HEADS=FOLDER go test -run TestHeadsAreThoseOfPyTorch ./graphrag/embed/local
#   python3 heads.py FOLDER > heads.json    # torch 2.4, transformers 4.46
import json, sys
import torch
import transformers as tf

folder = sys.argv[1]
PLACES = 120

QUESTIONS = ["Which dog hunts?", "owl", "the barn owl by the fox " * 9, "Naïve 東京 hunts [SEP] by?"]
PASSAGES = ["The barn owl hears a mouse.", "", "quick brown foxes hunting by the barn",
            "the owl hunts a mouse, " * 7, "brown dog, quick fox! the " * 40, "東京 naïve (zzz) 'dog' - it's a BARN.",
            "fox owl dog, barn? mouse the quick", "Hearing 京, a fox and a dog hunt; owls (brown) hear it!"]


def load(name, kind):
    tokenizer = tf.BertTokenizerFast(vocab_file=f"{folder}/{name}/vocab.txt", do_lower_case=True, model_max_length=PLACES)
    return tokenizer, kind.from_pretrained(f"{folder}/{name}").eval()


def classified(name):
    tokenizer, model = load(name, tf.BertForSequenceClassification)
    return [[model(**tokenizer([q], [p], truncation="longest_first", max_length=PLACES, return_tensors="pt")).logits[0].tolist()
             for p in PASSAGES] for q in QUESTIONS]


# Devlin and others 2019, section 4.3: the best span beside none, by trying each.
def spans():
    tokenizer, model = load("spans", tf.BertForQuestionAnswering)
    out = []
    for q in QUESTIONS:
        asked = tokenizer(q, truncation=True, max_length=min(64 + 2, PLACES // 2))["input_ids"][1:-1]
        room, row = PLACES - len(asked) - 3, []
        for p in PASSAGES:
            whole = tokenizer(p, add_special_tokens=False, return_offsets_mapping=True)
            ids, words, at = whole["input_ids"], whole.word_ids(), whole["offset_mapping"]
            best = (float("-inf"), 0, 0)
            begin = 0
            while begin < len(ids):
                part = ids[begin:begin + room]
                first = [tokenizer.cls_token_id] + asked + [tokenizer.sep_token_id]
                second = part + [tokenizer.sep_token_id]
                r = model(torch.tensor([first + second]), token_type_ids=torch.tensor([[0] * len(first) + [1] * len(second)]))
                s, e = r.start_logits[0].tolist(), r.end_logits[0].tolist()
                for i in range(len(part)):
                    for j in range(i, min(i + 30, len(part))):
                        score = s[len(first) + i] + e[len(first) + j] - s[0] - e[0]
                        if score > best[0]:
                            best = (score, begin + i, begin + j)
                if begin + room >= len(ids):
                    break
                begin += room - min(128, room // 2)
            if ids:
                lo = min(a for (a, _), w in zip(at, words) if w == words[best[1]])
                hi = max(b for (_, b), w in zip(at, words) if w == words[best[2]])
                row.append([best[0], len(p[:lo].encode()), len(p[:hi].encode())])
            else:
                row.append(None)
        out.append(row)
    return out


def names():
    tokenizer, model = load("names", tf.BertForTokenClassification)
    pipe = tf.pipeline("token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="first")
    return [[[e["entity_group"], float(e["score"]), len(p[:e["start"]].encode()), len(p[:e["end"]].encode())] for e in pipe(p)]
            if len(tokenizer(p)["input_ids"]) <= PLACES and p else None for p in PASSAGES]


with torch.no_grad():
    json.dump({"questions": QUESTIONS, "passages": PASSAGES, "rank": classified("rank"), "entail": classified("entail"),
               "spans": spans(), "names": names()}, sys.stdout, ensure_ascii=False)
