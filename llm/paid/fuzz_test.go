// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
)

// A record answers the request it was written for, or it is an error; it
// never answers another one.
func FuzzCacheRecord(f *testing.F) {
	request, err := canonical("m", llm.Prompt("q"))
	if err != nil {
		f.Fatal(err)
	}
	good, err := json.Marshal(cacheRecord{Request: request, Reply: &llm.Reply{Text: "a", Finish: llm.FinishStop}})
	if err != nil {
		f.Fatal(err)
	}
	bad, err := json.Marshal(cacheRecord{Request: request, Failure: &failure{Kind: llm.ErrFiltered}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{good, bad, good[:len(good)-1], []byte(`{"request":`), []byte(`{"reply":{}}`), []byte(`{"request":{},"reply":{"text":"x"}}`), nil} {
		f.Add(seed, request)
	}
	f.Fuzz(func(t *testing.T, payload, request []byte) {
		stored := string(payload)
		o, err := decodeOutcome(payload, request)
		if err == nil && !strings.Contains(stored, string(request)) {
			var r cacheRecord
			if json.Unmarshal([]byte(stored), &r) != nil || r.Request != nil {
				t.Fatalf("%q answers %q with %+v", stored, request, o)
			}
		}
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
