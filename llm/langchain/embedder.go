// SPDX-License-Identifier: Apache-2.0

package langchain

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

	"github.com/tmc/langchaingo/embeddings"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// Embedder embeds over HTTP. It sends its own requests: langchaingo's clients
// throw away the usage and the order of the vectors, change the caller's
// texts, and send Ollama one text at a time. It is safe for concurrent use.
type Embedder struct {
	c    *checked
	name string
	path string
	// body is the request for some texts, read its reply.
	body func(texts []string) map[string]any
	read func(body []byte, n int) ([][]float32, llm.Usage, error)
}

var (
	_ embeddings.Embedder = (*Embedder)(nil)
	_ llm.Embedder        = (*Embedder)(nil)
)

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
	named, fields := map[string]any{}, map[string]any{"model": k.Model}
	if k.Dimensions > 0 {
		named["dimensions"], fields["dimensions"] = k.Dimensions, k.Dimensions
	}
	if kind == "openai" {
		fields["encoding_format"] = "float"
	} else {
		fields["truncate"] = false
		if k.ContextTokens > 0 {
			named["num_ctx"], fields["options"] = k.ContextTokens, map[string]any{"num_ctx": k.ContextTokens}
		}
	}
	e := &Embedder{c: k, path: path, read: read}
	e.body = func(texts []string) map[string]any {
		body := maps.Clone(fields)
		body["input"] = texts
		maps.Copy(body, k.Extra)
		return body
	}
	settings := maps.Clone(k.Extra)
	if settings == nil {
		settings = named
	}
	maps.Copy(settings, named)
	e.name = k.name(kind, settings)
	return e, nil
}

// Name identifies provider, address, model and settings, for reports and
// [paid.CachedEmbedder].
func (e *Embedder) Name() string { return e.name }

// Batch is how many texts are sent in one request. Whoever keeps vectors as they
// come asks for no more at a time.
func (e *Embedder) Batch() int { return e.c.Batch }

// EmbedDocuments returns one vector per text, in order. A text without any
// letter is sent as one blank, since servers refuse empty ones; texts are
// otherwise sent as they are.
func (e *Embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, e.c.Batch) {
		vectors, err := e.embed(ctx, batch)
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	if err := transport.CheckVectors(texts, out); err != nil {
		return nil, fmt.Errorf("%s: %w", e.name, err)
	}
	return out, nil
}

// EmbedQuery returns the vector of one text.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := e.embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// embed sends one batch.
func (e *Embedder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	if ctx.Err() != nil {
		return nil, llm.Canceled(ctx, llm.BilledNo)
	}
	texts = slices.Clone(texts)
	for i, t := range texts {
		if strings.TrimSpace(t) == "" {
			texts[i] = " "
		}
	}
	body, err := json.Marshal(e.body(texts))
	if err != nil {
		return nil, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: fmt.Errorf("%s: %w", e.name, err)}
	}
	var vectors [][]float32
	call := &transport.Call{Read: func(body []byte) (llm.Usage, error) {
		if e := transport.ErrorInBody(body); e != nil {
			return llm.Usage{}, e
		}
		v, u, err := e.read(body, len(texts))
		if u.Estimated {
			u.EmbeddedTokens = e.count(texts)
		}
		if err == nil {
			err = transport.CheckVectors(texts, v)
		}
		vectors = v
		return u, named(e.name, err)
	}}
	req, err := http.NewRequestWithContext(transport.WithCall(ctx, call), http.MethodPost, e.c.url.JoinPath(e.path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("langchain: %s: %w", e.name, err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.c.client.Do(req)
	switch {
	case call.Err != nil:
		return nil, call.Err
	case err != nil:
		return nil, &llm.Error{Kind: llm.ErrTransient, Err: fmt.Errorf("%s: %w", e.name, err)}
	}
	return vectors, resp.Body.Close()
}

func (e *Embedder) count(texts []string) (n int) {
	count := e.c.CountTokens
	if count == nil {
		count = llm.EstimateTokens
	}
	for _, t := range texts {
		n += count(t)
	}
	return n
}

// named says in an error of the reply whose it is.
func named(name string, err error) error {
	if own := (*llm.Error)(nil); errors.As(err, &own) {
		own.Err = fmt.Errorf("%s: %w", name, own.Err)
	}
	return err
}

// components are a vector as JSON. What is no number is one here too, so that
// it is noticed: encoding/json takes null for 0.
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

// readOpenAIVectors puts the vectors where their index says.
func readOpenAIVectors(body []byte, n int) ([][]float32, llm.Usage, error) {
	var r struct {
		Data []struct {
			Index     *int       `json:"index"`
			Embedding components `json:"embedding"`
		} `json:"data"`
		Usage figures `json:"usage"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, llm.Usage{Estimated: true}, fmt.Errorf("read the embeddings: %w", err)
	}
	used := llm.EmbeddedUsage(r.Usage.Prompt, r.Usage.Total)
	out := make([][]float32, n)
	for i, d := range r.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out[at] != nil {
			return nil, used, &llm.Error{Kind: transport.ErrBadVector, Billed: llm.BilledYes,
				Err: fmt.Errorf("%d vectors for %d texts: index %d comes twice or is none of them", len(r.Data), n, at)}
		}
		out[at] = d.Embedding
	}
	return out[:min(n, len(r.Data))], used, nil
}

func readOllamaVectors(body []byte, _ int) ([][]float32, llm.Usage, error) {
	var r struct {
		Embeddings []components `json:"embeddings"`
		Prompt     llm.Count    `json:"prompt_eval_count"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, llm.Usage{Estimated: true}, fmt.Errorf("read the embeddings: %w", err)
	}
	out := make([][]float32, len(r.Embeddings))
	for i, v := range r.Embeddings {
		out[i] = v
	}
	return out, llm.EmbeddedUsage(r.Prompt, 0), nil
}
