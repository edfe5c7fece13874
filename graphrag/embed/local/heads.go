// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// scoringModel is a BERT with one layer on top that was trained for a task (Devlin and others 2019, section 3.2).
type scoringModel struct {
	model
	pieces      *wordPiece
	pooler, out dense
	labels      []string // by number, as id2label has them
}

// dense is a small layer of out × in numbers, computed as it stands.
type dense struct {
	weight, bias []float32
}

func (w *weights) dense(name string, in, out int) dense {
	return dense{w.get(name+".weight", out, in), w.get(name+".bias", out)}
}

// apply writes weight·x + bias to out.
func (d dense) apply(out []float64, x []float32) {
	for i := range out {
		sum := float64(d.bias[i])
		for j, v := range d.weight[i*len(x) : (i+1)*len(x)] {
			sum += float64(v) * float64(x[j])
		}
		out[i] = sum
	}
}

// task describes the head that a folder must have.
type task struct {
	architecture string // of config.json
	layer        string // the name of its weights
	pooled       bool   // it goes by the pooled vector of the first token
	check        func(labels []string) error
}

// open reads the folder of a head: config.json, model.safetensors and tokenizer.json or vocab.txt.
func (h *scoringModel) open(dir string, opts Options, t task) (err error) {
	if err := h.begin(opts); err != nil {
		return err
	}
	if h.net.config, err = readBERT(dir); err != nil {
		return err
	}
	var c struct {
		Architectures []string
		Labels        map[string]string `json:"id2label"`
	}
	if _, err := readJSON(dir, configFile, true, &c); err != nil {
		return err
	}
	remedy := "use a " + t.architecture
	if !slices.Contains(c.Architectures, t.architecture) {
		return badFile(dir, configFile, remedy, fmt.Errorf("architectures is %.100q", c.Architectures))
	}
	if h.labels, err = inOrder(c.Labels); err == nil {
		err = t.check(h.labels)
	}
	if err != nil {
		return badFile(dir, configFile, remedy, err)
	}
	sum := sha256.New()
	if err := h.readTokenizer(dir, sum); err != nil {
		return err
	}
	var ok bool
	if h.pieces, ok = h.words.(*wordPiece); !ok {
		return badFile(dir, tokenizerFile, remedy, errors.New("the model of its tokenizer is Unigram, want WordPiece"))
	}
	fmt.Fprintf(sum, "%q %q", t.architecture, h.labels)
	err = h.readWeights(dir, sum, func(w *weights) error {
		if t.pooled {
			h.pooler = w.dense("bert.pooler.dense", h.net.Hidden, h.net.Hidden)
		}
		h.out = w.dense(t.layer, h.net.Hidden, len(h.labels))
		return w.err
	})
	h.name = fmt.Sprintf("%s-%dx%d-%.8x", t.architecture, h.net.Layers, h.net.Hidden, sum.Sum(nil))
	return err
}

// inOrder returns labels by their numbers; a model without any has the two that the
// library transformers gives it.
func inOrder(byNumber map[string]string) ([]string, error) {
	if len(byNumber) == 0 {
		return []string{"LABEL_0", "LABEL_1"}, nil
	}
	labels := make([]string, len(byNumber))
	for number, label := range byNumber {
		i, err := strconv.Atoi(number)
		if err != nil || i < 0 || i >= len(labels) || labels[i] != "" || label == "" || len(labels) > maxLabels {
			return nil, fmt.Errorf("id2label has %d entries, one of them %.40q: %.40q", len(byNumber), number, label)
		}
		labels[i] = label
	}
	return labels, nil
}

const maxLabels = 1 << 10

// classify returns the logits of n pairs of texts.
func (h *scoringModel) classify(ctx context.Context, n int, pair func(i int) (a, b string)) ([][]float64, error) {
	out := make([][]float64, n)
	err := h.inPacks(ctx, n, func(s *scratch, i int) {
		a, b := pair(i)
		h.pair(s, a, b)
	}, func(i, _ int, tokens []float32) error {
		pooled, wide := make([]float32, h.net.Hidden), make([]float64, h.net.Hidden)
		h.pooler.apply(wide, tokens[:h.net.Hidden])
		for j, x := range wide {
			pooled[j] = float32(math.Tanh(x))
		}
		out[i] = make([]float64, len(h.labels))
		h.out.apply(out[i], pooled)
		return finite(out[i])
	})
	return out, err
}

func finite(xs []float64) error {
	for _, x := range xs {
		if x-x != 0 {
			return errDamaged
		}
	}
	return nil
}

// pair appends [CLS] a [SEP] b [SEP]. If that is too long, the longer of the two is cut,
// then both, as "longest_first" of the library tokenizers does.
func (h *scoringModel) pair(s *scratch, a, b string) {
	from := len(s.ids)
	s.ids = h.pieces.tokens(s.ids, a, h.net.tokens, &s.letterReader)
	between := len(s.ids)
	s.ids = h.pieces.tokens(s.ids, b, h.net.tokens, &s.letterReader)
	first, second, room := between-from-2, len(s.ids)-between-2, h.net.tokens-3
	if first+second > room {
		short := min(first, second)
		long := max(short, room-short)
		if short+long > room {
			short, long = room/2, (room+1)/2
		}
		if first <= second {
			first, second = short, long
		} else {
			first, second = long, short
		}
	}
	end := h.pieces.end
	rest := s.ids[between+1 : between+1+second] // of b, without its [CLS]
	s.ids = append(append(append(s.ids[:from+1+first], end), rest...), end)
	s.seconds = append(s.seconds, from+first+2)
}

// softmax64 makes probabilities of logits.
func softmax64(x []float64) {
	most, sum := slices.Max(x), 0.
	for i, v := range x {
		x[i] = math.Exp(v - most)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}

// Reranker scores how well passages answer a question, reading each together with it: a cross-encoder (Nogueira
// and Cho 2019, arXiv 1901.04085, section 3), as ms-marco-MiniLM-L6-v2 is. It is safe for concurrent use.
type Reranker struct{ scoringModel }

// OpenReranker reads a BertForSequenceClassification with one label.
func OpenReranker(dir string, opts Options) (*Reranker, error) {
	r := new(Reranker)
	return opened(r, r.open(dir, opts, task{"BertForSequenceClassification", "classifier", true, func(labels []string) error {
		if len(labels) != 1 {
			return fmt.Errorf("it has the labels %.100q, want one", labels)
		}
		return nil
	}}))
}

// Scores returns the logit of each passage: larger is better, without bounds. Where
// question and passage are longer than the model takes, the longer one is cut off.
func (r *Reranker) Scores(ctx context.Context, question string, passages []string) ([]float64, error) {
	logits, err := r.classify(ctx, len(passages), func(i int) (a, b string) { return question, passages[i] })
	if err != nil {
		return nil, err
	}
	return slices.Concat(logits...), nil
}

// Entailment scores whether one text follows from another (Bowman and others 2015, arXiv
// 1508.05326). It is safe for concurrent use.
type Entailment struct {
	scoringModel
	entails, contradicts int // of the labels
}

// Entailed are the probabilities that a text follows from another, and that it
// contradicts it. What is missing to 1 is that it does neither.
type Entailed struct{ Entails, Contradicts float64 }

// OpenEntailment reads a BertForSequenceClassification with three labels, entailment,
// neutral and contradiction, in the order of id2label.
func OpenEntailment(dir string, opts Options) (*Entailment, error) {
	e := new(Entailment)
	return opened(e, e.open(dir, opts, task{"BertForSequenceClassification", "classifier", true, func(labels []string) error {
		at := func(name string) int {
			return slices.IndexFunc(labels, func(l string) bool { return strings.EqualFold(l, name) })
		}
		e.entails, e.contradicts = at("entailment"), at("contradiction")
		if len(labels) != 3 || e.entails < 0 || e.contradicts < 0 || at("neutral") < 0 {
			return fmt.Errorf("it has the labels %.100q, want entailment, neutral and contradiction", labels)
		}
		return nil
	}}))
}

// Entail tells for each hypothesis whether it follows from the premise.
func (e *Entailment) Entail(ctx context.Context, premise string, hypotheses []string) ([]Entailed, error) {
	logits, err := e.classify(ctx, len(hypotheses), func(i int) (a, b string) { return premise, hypotheses[i] })
	if err != nil {
		return nil, err
	}
	out := make([]Entailed, len(logits))
	for i, p := range logits {
		softmax64(p)
		out[i] = Entailed{p[e.entails], p[e.contradicts]}
	}
	return out, nil
}
