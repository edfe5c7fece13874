// SPDX-License-Identifier: Apache-2.0

package langchain

import (
	"encoding/json"
	"math"

	"github.com/tmc/langchaingo/llms"

	"github.com/wildgraph/wildgraph/llm"
)

// figures are the tokens of a reply as OpenAI writes them. A field of another
// shape is as good as none.
type figures struct{ Prompt, Completion, Total llm.Count }

func (f *figures) UnmarshalJSON(b []byte) error {
	var r struct {
		Prompt     llm.Count `json:"prompt_tokens"`
		Completion llm.Count `json:"completion_tokens"`
		Total      llm.Count `json:"total_tokens"`
	}
	if json.Unmarshal(b, &r) == nil {
		*f = figures(r)
	}
	return nil
}

// usageNames are the keys of GenerationInfo under which langchaingo's
// providers report: OpenAI and Ollama, Anthropic, Google and Bedrock.
var usageNames = []struct{ prompt, completion string }{
	{"PromptTokens", "CompletionTokens"},
	{"InputTokens", "OutputTokens"},
	{"input_tokens", "output_tokens"},
}

// usageOf reads the tokens of a response and reports whether it has any.
// Every choice repeats the figures of the whole request, so the first choice
// that has them counts, and the others do not.
func usageOf(resp *llms.ContentResponse) (llm.Usage, bool) {
	if resp == nil {
		return llm.Usage{}, false
	}
	for _, c := range resp.Choices {
		if c == nil {
			continue
		}
		for _, n := range usageNames {
			prompt, ok1 := count(c.GenerationInfo[n.prompt])
			completion, ok2 := count(c.GenerationInfo[n.completion])
			if (ok1 || ok2) && prompt+completion > 0 {
				return llm.Usage{PromptTokens: prompt, CompletionTokens: completion}, true
			}
		}
	}
	return llm.Usage{}, false
}

// count reads a token count of whatever number type.
func count(v any) (int, bool) {
	var f float64
	switch n := v.(type) {
	case int:
		f = float64(n)
	case int32:
		f = float64(n)
	case int64:
		f = float64(n)
	case float64:
		f = n
	case json.Number:
		x, err := n.Float64()
		if err != nil {
			return 0, false
		}
		f = x
	default:
		return 0, false
	}
	if !(f >= 0 && f <= math.MaxInt32) {
		return 0, false
	}
	return int(f), true
}
