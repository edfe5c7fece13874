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
	// Workers is how many goroutines encode; 0 means GOMAXPROCS.
	Workers int
}

// Encoder turns texts into vectors with a model that was read from a folder. It
// implements embed.Embedder and embed.Model, and is safe for concurrent use.
type Encoder struct {
	net     network
	words   *wordPiece
	prompts prompts
	name    string
	workers int
	spare   sync.Pool // of *scratch
}

const (
	// packTokens is how many tokens go through the layers at a time, unless one
	// text has more: enough that reading the weights costs little, few enough that
	// the activations stay in the second cache.
	packTokens = 256
	// textsAtOnce is how many texts a worker takes from a call.
	textsAtOnce = 16
	// batchTexts is what a cache should ask for at a time, see Batch.
	batchTexts = 256
)

// Open reads a model. Errors name the file and what to do about it.
func Open(dir string, opts Options) (*Encoder, error) {
	bad := opt.Checks{Of: "local"}
	opt.Min(&bad, "Workers", opts.Workers, 0)
	if err := bad.Err(); err != nil {
		return nil, err
	}
	e := &Encoder{workers: opts.Workers}
	e.net.kernels = fastest()
	e.spare.New = func() any { return new(scratch) }
	if err := e.read(dir); err != nil {
		return nil, err
	}
	return e, nil
}

// Name tells the model by size and content: architecture, weights, vocabulary and
// what the folder says about texts, prompts included. Vectors of equal names are
// equal on one kind of processor.
func (e *Encoder) Name() string { return e.name }

// Dim is the length of the vectors.
func (e *Encoder) Dim() int { return e.net.Hidden }

// Batch is how many texts a cache should ask for at a time: enough to keep all
// cores busy, and few seconds' work to lose.
func (e *Encoder) Batch() int { return batchTexts }

// EmbedDocuments returns a vector for each text, with the model's prompt for passages
// before it. What of a text is beyond the model's length is cut off. It stops between
// two packs of texts when ctx is cancelled.
func (e *Encoder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, e.prompts.passage, texts)
}

// EmbedQuery returns the vector of a question, with the model's prompt for questions
// before it. Where passages have the same prompt, or none has, a passage of the same
// words has the same vector.
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
	share := (len(texts) + par.Workers(e.workers) - 1) / par.Workers(e.workers)
	err := par.Ranges(ctx, len(texts), min(textsAtOnce, max(share, 1)), e.workers, func(_, lo, hi int) error {
		s := e.spare.Get().(*scratch)
		defer e.spare.Put(s)
		return e.encode(ctx, s, prompt, texts[lo:hi], out[lo:hi])
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// encode writes the vectors of some texts, pack by pack. The texts of a pack lie
// one behind the other, so none is padded to the length of another.
func (e *Encoder) encode(ctx context.Context, s *scratch, prompt string, texts []string, out [][]float32) error {
	for len(texts) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.ids, s.ends = s.ids[:0], s.ends[:0]
		for len(s.ends) < len(texts) && len(s.ids) < packTokens {
			s.ids = e.words.tokens(s.ids, prompt+texts[len(s.ends)], e.net.tokens, &s.letters)
			s.ends = append(s.ends, len(s.ids))
		}
		e.net.forward(s)
		from := 0
		for i, end := range s.ends {
			if !e.net.pool(out[i], s.x[from*e.net.Hidden:end*e.net.Hidden]) {
				return errors.New("local: the vector of a text is beyond all numbers: the weights are damaged, copy the model again")
			}
			from = end
		}
		texts, out = texts[len(s.ends):], out[len(s.ends):]
	}
	return nil
}

// pool makes one vector of those of the tokens, and tells whether it is finite.
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
