// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Options of an [Encoder]. The zero value uses all cores.
type Options struct {
	// Int8 multiplies weights and activations in codes of 8 bits: 2.5 times as fast with
	// AVX-512 VNNI, 1.6 times with AVX2. The cosine of a vector to that without Int8 is .995 and
	// more for the models of package hub; the two are not to be mixed, so the name is another.
	Int8 bool
	// Workers is the number of goroutines that encode; 0 means GOMAXPROCS.
	Workers int
}

// Encoder turns texts into vectors with a model that was read from a folder. It
// implements embed.Embedder and embed.Model, and is safe for concurrent use.
type Encoder struct {
	model
	prompts prompts
}

// model is the common part of an Encoder and the heads: a BERT and its tokenizer.
type model struct {
	net     network
	words   tokenizer
	name    string
	workers int
	int8    bool
	spare   sync.Pool // of *scratch
}

const (
	// packTokens is the number of tokens that go through the layers at a time, unless one text has more: enough that
	// reading the weights costs little, few enough that the activations stay in the second cache.
	packTokens = 256
	// textsAtOnce is the number of texts that a worker takes from a call.
	textsAtOnce = 16
	// batchTexts is the recommended number of texts in a request of a cache, see Batch.
	batchTexts = 256
)

// Open reads a model. Errors name the file and what to do about it.
func Open(dir string, opts Options) (*Encoder, error) {
	e := new(Encoder)
	return opened(e, e.read(dir, opts))
}

// opened is a model, or why it cannot be used.
func opened[M any](m *M, err error) (*M, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (m *model) begin(opts Options) error {
	bad := opt.Checks{Of: "local"}
	opt.Min(&bad, "Workers", opts.Workers, 0)
	m.workers, m.int8 = opts.Workers, opts.Int8
	m.net.kernels = fastest()
	m.spare.New = func() any { return new(scratch) }
	return bad.Err()
}

// Name tells the model by size and content: architecture, weights, vocabulary and what the folder says
// about texts, prompts included. Vectors of equal names are equal on one kind of processor.
func (m *model) Name() string { return m.name }

// Dim is the length of the vectors.
func (e *Encoder) Dim() int { return e.net.Hidden }

// Batch returns the number of texts that a cache should ask for at a time: enough to keep all
// cores busy, and few seconds' work to lose.
func (e *Encoder) Batch() int { return batchTexts }

// EmbedDocuments returns a vector for each text, with the model's prompt for passages before it. What of a
// text is beyond the model's length is cut off. It stops between two packs of texts when ctx is cancelled.
func (e *Encoder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, e.prompts.passage, texts)
}

// EmbedQuery returns the vector of a question, with the model's prompt for questions before it. Where
// passages have the same prompt, or none has, a passage of the same words has the same vector.
func (e *Encoder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	out, err := e.embed(ctx, e.prompts.query, []string{text})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// embed encodes texts with a prompt before each.
func (e *Encoder) embed(ctx context.Context, prompt string, texts []string) ([][]float32, error) {
	dim := e.Dim()
	flat := make([]float32, len(texts)*dim)
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = flat[i*dim : (i+1)*dim : (i+1)*dim]
	}
	put, take := e.encoding(prompt, texts, out)
	if err := e.inPacks(ctx, len(texts), put, take); err != nil {
		return nil, err
	}
	return out, nil
}

// encoding is how texts go in and their vectors come out.
func (e *Encoder) encoding(prompt string, texts []string, out [][]float32) (putFunc, takeFunc) {
	return func(s *scratch, i int) {
			s.ids = e.words.tokens(s.ids, prompt+texts[i], e.net.tokens, &s.letterReader)
			s.seconds = append(s.seconds, len(s.ids))
		}, func(i, _ int, tokens []float32) error {
			if !e.net.pool(out[i], tokens) {
				return errDamaged
			}
			return nil
		}
}

var errDamaged = errors.New("local: the vector of a text is beyond all numbers: the weights are damaged, copy the model again")

type (
	// putFunc appends the tokens of the i-th text to s.ids, and to s.seconds where its second
	// part begins, its end if it has none.
	putFunc func(s *scratch, i int)
	// takeFunc gets the vectors of the tokens of the i-th text, and which of them begins its second part.
	takeFunc func(i, second int, tokens []float32) error
)

// inPacks encodes n texts. put and take are called by several goroutines.
func (m *model) inPacks(ctx context.Context, n int, put putFunc, take takeFunc) error {
	share := (n + par.Workers(m.workers) - 1) / par.Workers(m.workers)
	return par.Ranges(ctx, n, min(textsAtOnce, max(share, 1)), m.workers, func(_, lo, hi int) error {
		s := m.spare.Get().(*scratch)
		defer m.spare.Put(s)
		return m.packs(ctx, s, lo, hi, put, take)
	})
}

// packs encodes some texts, pack by pack. The texts of a pack lie one behind the other, so
// none is padded to the length of another.
func (m *model) packs(ctx context.Context, s *scratch, lo, hi int, put putFunc, take takeFunc) error {
	for lo < hi {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.ids, s.ends, s.seconds = s.ids[:0], s.ends[:0], s.seconds[:0]
		for lo+len(s.ends) < hi && len(s.ids) < packTokens {
			put(s, lo+len(s.ends))
			s.ends = append(s.ends, len(s.ids))
		}
		m.net.forward(s)
		from := 0
		for i, end := range s.ends {
			if err := take(lo+i, s.seconds[i]-from, s.x[from*m.net.Hidden:end*m.net.Hidden]); err != nil {
				return err
			}
			from = end
		}
		lo += len(s.ends)
	}
	return nil
}

// pool makes one vector of the tokens' vectors, and reports whether it is finite.
func (n *network) pool(out, tokens []float32) bool {
	copy(out, tokens)
	if !n.first {
		count := float32(len(tokens) / n.Hidden)
		for tokens = tokens[n.Hidden:]; len(tokens) > 0; tokens = tokens[n.Hidden:] {
			add(out, tokens)
		}
		for i := range out {
			out[i] /= count
		}
	}
	sum := 0.
	for _, x := range out {
		sum += float64(x) * float64(x)
	}
	if n.unit && sum > 0 {
		for i, x := range out {
			out[i] = float32(float64(x) / math.Sqrt(sum))
		}
	}
	return sum-sum == 0
}
