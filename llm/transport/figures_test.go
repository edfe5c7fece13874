// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Figures in any shape are read, or marked as guessed; none costs a reply that was
// paid for, and none is believed that no reply has.
func TestStrangeFiguresOfUsage(t *testing.T) {
	for figure, want := range map[string]int{
		`12`: 12, `12.0`: 12, `"12"`: 12, `" 12 "`: 12, `1.2e1`: 12, `11.5`: 12,
		`-12`: 0, `"many"`: 0, `null`: 0, `{}`: 0, `[12]`: 0, `true`: 0, `1e300`: 0, `4611686018427387904`: 0, `"NaN"`: 0, `"Inf"`: 0,
	} {
		s := llmtest.NewServer(llmtest.ServerOptions{})
		t.Cleanup(s.Close)
		chats := map[string]string{
			"openai": `{"choices":[{"message":{"content":"paid for"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%[1]s,"completion_tokens":%[1]s}}`,
			"ollama": `{"message":{"content":"paid for"},"done":true,"prompt_eval_count":%[1]s,"eval_count":%[1]s}`,
		}
		vectors := map[string]string{
			"openai": `{"data":[{"embedding":[1,2]}],"usage":{"prompt_tokens":%[1]s}}`,
			"ollama": `{"embeddings":[[1,2]],"prompt_eval_count":%[1]s}`,
		}
		for kind, body := range chats {
			p := provider(s, kind, Config{})
			m := check.Of(p.Model("m")).OK(t)
			s.Fail(llmtest.Fault{Status: 200, Body: fmt.Sprintf(body, figure)}, llmtest.Fault{Status: 200, Body: fmt.Sprintf(vectors[kind], figure)})
			reply, err := m.Generate(t.Context(), llm.Prompt("hello"))
			u := reply.Usage
			check.True(t, err == nil && reply.Text == "paid for" && u.Estimated == (want == 0), "%s: a figure of %s: %+v, %v", kind, figure, reply, err)
			check.True(t, u.Tokens() > 0 && u.Tokens() <= 100, "%s: a figure of %s: %d tokens", kind, figure, u.Tokens())
			check.True(t, want == 0 || u.PromptTokens+u.CompletionTokens == 2*want, "%s: a figure of %s: %+v", kind, figure, u)
			e := check.Of(p.Embedder("e")).OK(t)
			if v, err := e.EmbedQuery(t.Context(), "hello"); err != nil || len(v) != 2 {
				t.Errorf("%s: a vector with a figure of %s: %v, %v", kind, figure, v, err)
			}
		}
		for details, want := range map[string]int{`{"cached_tokens": 8}`: 8, `{"cached_tokens": 80}`: 20, `{"cached_tokens": -1}`: 0, `7`: 0, `null`: 0, `[]`: 0, `{"cached_tokens": {}}`: 0} {
			s.Fail(llmtest.Fault{Status: 200, Body: `{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":20,"completion_tokens":1,"prompt_tokens_details":` + details + `}}`})
			m := check.Of(provider(s, "openai", Config{}).Model("m")).OK(t)
			if reply, err := m.Generate(t.Context(), llm.Prompt("hello")); err != nil || reply.Usage.ProviderCached != want || reply.Usage.PromptTokens != 20 {
				t.Errorf("details %s: %+v, %v", details, reply, err)
			}
		}
		for _, odd := range []string{`7`, `"none"`, `[]`, `null`} {
			s.Fail(llmtest.Fault{Status: 200, Body: `{"choices":[{"message":{"content":"x"}}],"usage":` + odd + `}`})
			m := check.Of(provider(s, "openai", Config{}).Model("m")).OK(t)
			reply, err := m.Generate(t.Context(), llm.Prompt("hello"))
			check.True(t, err == nil && reply.Usage.Estimated, "usage %s: %+v, %v", odd, reply, err)
		}
	}
}

// What servers write where a vector has no number is an error, with the model's
// name and what to do, and not zero.
func TestVectorsThatAreNone(t *testing.T) {
	for _, vector := range []string{`[null,1]`, `[0,0]`, `[1e39,1]`, `null`, `[]`, `["a"]`, `{}`, `[1e38,1]`, `"AAAA"`} {
		s := llmtest.NewServer(llmtest.ServerOptions{})
		t.Cleanup(s.Close)
		for kind, body := range map[string]string{"openai": `{"data":[{"embedding":%s}]}`, "ollama": `{"embeddings":[%s]}`} {
			e := check.Of(provider(s, kind, Config{}).Embedder("e")).OK(t)
			before := len(s.Requests())
			bad := llmtest.Fault{Status: 200, Body: fmt.Sprintf(body, vector)}
			s.Fail(bad, bad, bad)
			v, err := e.EmbedQuery(t.Context(), "hello")
			check.True(t, errors.Is(err, ErrBadVector) && strings.Contains(err.Error(), e.Name()) &&
				strings.Contains(err.Error(), "name another"), "%s: %s: %v, %v", kind, vector, v, err)
			check.Equal(t, (len(s.Requests()) - before), 3, "%s: %s", kind, vector)
		}
	}
}
