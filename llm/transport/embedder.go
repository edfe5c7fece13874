// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// Embedder embeds over HTTP. It satisfies langchaingo's embeddings.Embedder. It is safe for concurrent use.
type Embedder struct {
	*endpoint
	path   string
	fields map[string]any // fields of the request's body, except the texts
	read   func(body []byte, n int) ([][]float32, llm.Usage, error)
	size   atomic.Int64 // number of texts in one request
}

// OpenAIEmbedder embeds with OpenAI's API or a compatible one.
func OpenAIEmbedder(c Config) (*Embedder, error) {
	return newEmbedder(c, "openai", openAIURL, "/embeddings", readOpenAIVectors)
}

// OllamaEmbedder embeds with an Ollama server (0.2 or later: /api/embed).
// Texts longer than the model's context are an error, not cut silently.
func OllamaEmbedder(c Config) (*Embedder, error) {
	return newEmbedder(c, "ollama", ollamaDefaultURL, "/api/embed", readOllamaVectors)
}

func newEmbedder(c Config, kind, url, path string, read func([]byte, int) ([][]float32, llm.Usage, error)) (*Embedder, error) {
	k, err := c.check(kind+" embedder", url)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{"model": k.Model}
	if kind == "openai" {
		fields["encoding_format"] = "float"
	} else {
		fields["truncate"] = false
		if k.ContextTokens > 0 {
			fields["options"] = map[string]any{"num_ctx": k.ContextTokens}
		}
	}
	maps.Copy(fields, k.Extra)
	e := &Embedder{endpoint: k.named(kind), path: path, fields: fields, read: read}
	e.size.Store(int64(k.Batch))
	return e, nil
}

// Batch returns the number of texts in one request. A cache that stores vectors as they arrive asks for no more
// texts at a time.
func (e *Embedder) Batch() int { return int(e.size.Load()) }

// EmbedDocuments returns one vector per text, in order. Texts are sent unchanged, but a blank text as one
// space, since servers refuse empty texts. If a server refuses several texts in one request, half as many are
// sent, down to one; later calls keep that number.
func (e *Embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	begin := e.size.Load()
	size := int(begin)
	for len(out) < len(texts) {
		batch := texts[len(out):min(len(texts), len(out)+size)]
		vectors, err := e.embed(ctx, batch)
		var refused *llm.Error
		if len(batch) > 1 && errors.As(err, &refused) && slices.Contains(tooLarge, refused.Status) {
			size = len(batch) / 2
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	for known := begin; int64(size) < known && !e.size.CompareAndSwap(known, int64(size)); {
		known = e.size.Load()
	}
	if err := CheckVectors(texts, out); err != nil {
		return nil, fmt.Errorf("%s: embed texts: %w", e.name, err)
	}
	return out, nil
}

// tooLarge lists the statuses with which a request may have been refused because of its size.
var tooLarge = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}

// EmbedQuery returns the vector of one text.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := e.embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// embed sends one request and returns the vectors of its texts.
func (e *Embedder) embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	texts = slices.Clone(texts)
	for i, t := range texts {
		if strings.TrimSpace(t) == "" {
			texts[i] = " "
		}
	}
	body := maps.Clone(e.fields)
	body["input"] = texts
	err = e.post(ctx, e.path, body, nil, func(body []byte) (llm.Usage, string, error) {
		v, u, err := e.read(body, len(texts))
		if u.Estimated {
			for _, t := range texts {
				u.EmbeddedTokens += llm.EstimateTokens(t)
			}
		}
		if err == nil {
			err = CheckVectors(texts, v)
		}
		if own := (*llm.Error)(nil); errors.As(err, &own) {
			own.Err = fmt.Errorf("%s: %w", e.name, own.Err)
		}
		vectors = v
		return u, "", err
	})
	return vectors, err
}

// components is a vector in JSON. A vector with anything but numbers becomes a NaN, which is noticed:
// encoding/json reads null as 0.
type components []float32

func (c *components) UnmarshalJSON(b []byte) error {
	var v []float32
	if bytes.Contains(b, []byte("null")) || json.Unmarshal(b, &v) != nil {
		*c = components{float32(math.NaN())}
		return nil
	}
	*c = v
	return nil
}

// readOpenAIVectors reads the vectors of n texts from a reply, in the order of their indexes.
func readOpenAIVectors(body []byte, n int) ([][]float32, llm.Usage, error) {
	var r struct {
		Data []struct {
			Index     *int       `json:"index"`
			Embedding components `json:"embedding"`
		} `json:"data"`
		Usage tokenCounts `json:"usage"`
	}
	if err := lenient(body, &r); err != nil {
		return nil, llm.Usage{Estimated: true}, fmt.Errorf("read the embeddings: %w", err)
	}
	used := metering.EmbeddedUsage(r.Usage.Prompt, r.Usage.Total)
	out := make([][]float32, n)
	for i, d := range r.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out[at] != nil {
			return nil, used, &llm.Error{Kind: ErrBadVector, Billed: llm.BilledYes,
				Err: fmt.Errorf("%d vectors for %d texts: index %d occurs twice or is out of range", len(r.Data), n, at)}
		}
		out[at] = d.Embedding
	}
	return out[:min(n, len(r.Data))], used, nil
}

func readOllamaVectors(body []byte, _ int) ([][]float32, llm.Usage, error) {
	var r struct {
		Embeddings []components   `json:"embeddings"`
		Prompt     metering.Count `json:"prompt_eval_count"`
	}
	if err := lenient(body, &r); err != nil {
		return nil, llm.Usage{Estimated: true}, fmt.Errorf("read the embeddings: %w", err)
	}
	out := make([][]float32, len(r.Embeddings))
	for i, v := range r.Embeddings {
		out[i] = v
	}
	return out, metering.EmbeddedUsage(r.Prompt, 0), nil
}
