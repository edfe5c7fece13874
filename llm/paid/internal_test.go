// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
)

type parrot struct{}

func (parrot) Name() string { return "parrot" }
func (parrot) Generate(_ context.Context, req llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: req.Messages[0].Text, Finish: llm.FinishStop}, nil
}
func (parrot) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{float32(len(t))}
	}
	return out, nil
}
func (parrot) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return []float32{float32(len(text))}, nil
}

// A cached record is compared with the request, not only its hash: exchanged records are never returned.
func TestRecordOfAnotherRequestIsRefused(t *testing.T) {
	client := check.Of(Open(Options{File: filepath.Join(t.TempDir(), "j")})).OK(t)
	defer client.Close()
	m, err1 := client.Model(parrot{})
	e, err2 := client.Embedder(parrot{})
	check.OK(t, errors.Join(err1, err2))
	swap := func(ask func(text string) error) {
		t.Helper()
		known := client.cache.known
		clear(known)
		for _, text := range []string{"a", "bb"} {
			check.OK(t, ask(text))
		}
		keys := slices.Collect(maps.Keys(known))
		known[keys[0]], known[keys[1]] = known[keys[1]], known[keys[0]]
	}
	swap(func(text string) error {
		_, err := m.Generate(t.Context(), llm.Prompt(text))
		return err
	})
	reply, err := m.Generate(t.Context(), llm.Prompt("a"))
	check.Fails(t, err, "another request", "%+v", reply)
	swap(func(text string) error {
		_, err := e.EmbedQuery(t.Context(), text)
		return err
	})
	v, err := e.EmbedQuery(t.Context(), "a")
	check.Fails(t, err, "another text", "%v", v)
}

// An earlier program may have stored unusable vectors: they are removed, reported, and requested again.
func TestPoisonedVectorsAreDropped(t *testing.T) {
	j := check.Of(journal.Open(filepath.Join(t.TempDir(), "j"), journal.Header{Schema: Schema}, journal.Options{})).OK(t)
	defer j.Close()
	var log strings.Builder
	texts := []string{"a", "bb", "ccc", "dddd", "eeeee"}
	c := newCache(j, slog.New(slog.NewTextHandler(&log, nil)))
	for i, v := range [][]float32{{0}, {float32(math.NaN())}, {1, 2}, {1e30}} {
		for _, query := range []bool{false, true} {
			k := embeddingKey("parrot", query, texts[i])
			check.OK(t, c.keep(recordVector, k, encodeVector(k, v)))
		}
	}
	e := &cachedEmbedder{cache: c, e: parrot{}}
	for range 2 {
		out := check.Of(e.EmbedDocuments(t.Context(), texts)).OK(t)
		for i, v := range out {
			q, err := e.EmbedQuery(t.Context(), texts[i])
			if want := []float32{float32(i + 1)}; !slices.Equal(v, want) || !slices.Equal(q, want) || err != nil {
				t.Errorf("%q: %v, %v, %v", texts[i], v, q, err)
			}
		}
		got := strings.Count(log.String(), "requested again")
		check.Equal(t, got, 8, "%d vectors were dropped, want 8:\n%s", got, &log)
	}
}

// The bytes that are hashed for a key never change: otherwise replies in old journals would be paid for again.
func TestCanonicalBytesAreFixed(t *testing.T) {
	zero, seed := 0.0, int64(-7)
	for _, tc := range []struct {
		req  llm.Request
		want string
	}{
		{llm.Request{}, `{"messages":null,"model":"m","version":"wildgraph-llm-v1"}`},
		{llm.Request{Messages: []llm.Message{{Role: llm.System, Text: "a<b"}, {Role: llm.User, Text: "\u00e9\x00\xff"}}, JSON: true, MaxTokens: 3, Sample: 2, Stop: []string{"x"},
			Schema: json.RawMessage(`{"b": 1.50, "a":[ ]}`), SchemaName: "n", Temperature: &zero, TopP: &zero, Seed: &seed, Stage: "s", Question: "q"},
			`{"json":true,"max_tokens":3,"messages":[{"role":"system","text":"a\u003cb"},{"role":"user","text":"é\u0000\ufffd"}],"model":"m","sample":2,` +
				`"schema":{"a":[],"b":1.50},"schema_name":"n","seed":-7,"stop":["x"],"temperature":0,"top_p":0,"version":"wildgraph-llm-v1"}`},
	} {
		got, err := canonicalJSON("m", tc.req)
		check.True(t, err == nil && string(got) == tc.want, "%s\n%s, %v", got, tc.want, err)
	}
}

// A record answers its own request, or is an error; it never answers another one.
func FuzzCacheRecord(f *testing.F) {
	request := check.Of(canonicalJSON("m", llm.Prompt("q"))).OK(f)
	good := check.Of(json.Marshal(cacheRecord{Request: request, Reply: &llm.Reply{Text: "a", Finish: llm.FinishStop}})).OK(f)
	bad := check.Of(json.Marshal(cacheRecord{Request: request, Failure: &failure{Kind: llm.ErrFiltered}})).OK(f)
	for _, seed := range [][]byte{good, bad, good[:len(good)-1], []byte(`{"request":`), []byte(`{"reply":{}}`), []byte(`{"request":{},"reply":{"text":"x"}}`), nil} {
		f.Add(seed, request)
	}
	f.Fuzz(func(t *testing.T, payload, request []byte) {
		stored := string(payload)
		r, err := decodeRecord(payload, request)
		check.Must(t, err != nil || strings.Contains(stored, string(request)), "%q answers %q with %+v", stored, request, r)
		if k, v, err := decodeVector([]byte(stored)); err == nil && string(encodeVector(k, v)) != stored {
			for _, x := range v {
				if x != x { // a NaN may change its bits
					return
				}
			}
			t.Fatalf("the vector %x does not come back", stored)
		}
	})
}

func FuzzPrices(f *testing.F) {
	f.Add(`{"currency":"EUR","models":[{"model":"m","as_of":"2025-01-02","prompt":0.15,"completion":0.6}]}`, 12345)
	f.Add(`{"currency":"X","models":[{"model":"m","as_of":"2025-01-02","prompt":1e6}]}`, math.MaxInt)
	f.Add(`{}`, 0)
	f.Fuzz(func(t *testing.T, text string, n int) {
		p, err := ReadPrices(strings.NewReader(text))
		if err != nil {
			return
		}
		n &= math.MaxInt >> 1
		for _, m := range p.Models {
			if c := p.Cost(m.Model, llm.Usage{PromptTokens: n, CompletionTokens: n, EmbeddedTokens: n}); c.Amount < 0 || c.Partial && m.Embedded > 0 && m.Prompt > 0 {
				t.Fatalf("%d tokens of %+v cost %v", n, m, c)
			}
		}
	})
}
