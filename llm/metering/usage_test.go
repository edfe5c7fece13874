// SPDX-License-Identifier: Apache-2.0

package metering_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
)

type hashes struct{}

func (hashes) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	return make([][]float32, len(texts)), nil
}
func (hashes) EmbedQuery(context.Context, string) ([]float32, error) { return nil, nil }

// A meter counts the calls under its context, and so do meters of outer contexts; failed calls count with their
// usage.
func TestMeter(t *testing.T) {
	cost := llm.Usage{Calls: 1, PromptTokens: 3, CompletionTokens: 2}
	m := metering.Metered(llmtest.NewScript("m").
		Fail(llmtest.Contains("cut"), &llm.Error{Kind: llm.ErrTruncated, Usage: cost}).
		Handle(llmtest.Any, func(llm.Request) llm.Reply { return llm.Reply{Text: "x", Usage: cost} }))
	e := metering.MeteredEmbedder(hashes{}, func(s string) int { return len(s) })
	outerCtx, outer := metering.WithMeter(t.Context())
	for _, text := range []string{"fine", "cut"} {
		_, _ = m.Generate(outerCtx, llm.Prompt(text))
	}
	ctx, inner := metering.WithMeter(outerCtx)
	check.OK(t, check.Err(e.EmbedDocuments(ctx, []string{"ab", "c"})))
	check.OK(t, check.Err(e.EmbedQuery(ctx, "d")))
	embedded := llm.Usage{EmbeddedTokens: 4, Estimated: true}
	check.True(t, inner.Usage() == embedded && outer.Usage() == cost.Add(cost).Add(embedded), "inner %+v, outer %+v", inner.Usage(), outer.Usage())
	staged := llm.Prompt("fine")
	staged.Stage = "extract"
	check.OK(t, check.Err(m.Generate(ctx, staged)))
	want := map[string]llm.Usage{"extract": cost, metering.StageEmbed: embedded}
	check.Equal(t, inner.Stages(), want, "by stage")
	check.OK(t, check.Err(m.Generate(t.Context(), llm.Prompt("without a meter"))))
}

// A call is counted once, however deeply metered models are nested, also in a meter of its own; the usage of a
// function that reports none is estimated.
func TestMeteredOnce(t *testing.T) {
	var calls int
	bare := llm.ByFunc("f", func(context.Context, llm.Request) (llm.Reply, error) {
		calls++
		return llm.Reply{Text: "twelve bytes"}, nil
	})
	wrapped := struct{ llm.Model }{metering.Metered(bare)}
	around := llm.ByFunc("g", func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		own, inner := metering.WithMeter(ctx)
		reply, err := metering.Metered(wrapped).Generate(own, req)
		check.Equal(t, inner.Usage().Calls, 1, "the meter inside counts %+v", inner.Usage())
		return reply, err
	})
	want := llm.Usage{Calls: 1, PromptTokens: 2, CompletionTokens: 3, Estimated: true}
	for _, m := range []llm.Model{metering.Metered(bare), metering.Metered(metering.Metered(bare)), metering.Metered(wrapped), metering.Metered(around)} {
		ctx, meter := metering.WithMeter(t.Context())
		reply, err := m.Generate(ctx, llm.Prompt("question"))
		check.True(t, err == nil && meter.Usage() == want && reply.Usage == want, "%+v, %+v, %v", meter.Usage(), reply.Usage, err)
	}
}

func Example() {
	model := metering.Metered(llmtest.NewScript("demo").Reply(llmtest.Any, "Paris"))
	ctx, meter := metering.WithMeter(context.Background())
	for range 2 {
		_, _ = model.Generate(ctx, llm.Prompt("What is the capital of France?"))
	}
	fmt.Println(meter.Usage().Calls, meter.Usage().Tokens())
	// Output: 2 20
}

// A call in a trace has the attributes' conventional names, and a failed one its usage.
func TestTraced(t *testing.T) {
	for name, want := range map[string]string{
		"openai:https://api.openai.com/v1:gpt-5-mini":        `"gpt-5-mini" "openai" "api.openai.com"`,
		`ollama:http://127.0.0.1:11434:llama3:8b{"top_k":1}`: `"llama3:8b" "ollama" "127.0.0.1"`,
		"openai:http://[::1]:80/v1/x:m":                      `"m" "openai" "[::1]"`,
		"of a test":                                          `"of a test" "" ""`,
	} {
		spans := new(trace.Recorder)
		m := metering.Metered(llm.ByFunc(name, func(context.Context, llm.Request) (llm.Reply, error) {
			return llm.Reply{}, &llm.Error{Kind: llm.ErrTruncated, Body: "canary", Usage: llm.Usage{Calls: 1, PromptTokens: 7, CompletionTokens: 3}}
		}))
		check.Must(t, check.Err(m.Generate(trace.With(t.Context(), spans), llm.Request{Stage: "read"})) != nil,
			"no error")
		data, err := json.Marshal(spans)
		check.Must(t, err == nil && !strings.Contains(string(data), "canary"), "%v %v", err, string(data))
		value := func(key string) string {
			_, rest, _ := strings.Cut(string(data), `"key":"`+key+`","value":{`)
			rest, _, _ = strings.Cut(rest, "}")
			_, v, _ := strings.Cut(rest, `Value":`)
			return strings.Trim(v, `"`)
		}
		check.Equal(t, fmt.Sprintf("%q %q %q", value("gen_ai.request.model"), value("gen_ai.provider.name"), value("server.address")), want, "%s", name)
		got := value("gen_ai.usage.input_tokens") + value("gen_ai.usage.output_tokens") + value("error.type") + value("wildgraph.stage")
		check.Equal(t, got, "73reply truncatedread", "%s", name)
	}
}

// A meter adds up the calls under its context.
func ExampleWithMeter() {
	model := metering.Metered(llmtest.NewScript("demo").Reply(llmtest.Any, "Colin Archer"))
	ctx, meter := metering.WithMeter(context.Background())
	for range 2 {
		if _, err := model.Generate(ctx, llm.Prompt("Who built the Fram?")); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(meter.Usage().Calls, "calls")
	// Output: 2 calls
}
