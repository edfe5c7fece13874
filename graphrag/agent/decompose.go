// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

// Stages name the calls in accounts.
const (
	StageDecompose = "decompose"
	StageReflect   = "reflect"
	StageAspects   = "aspects"
)

// Decomposer takes a question apart. What it returns need not be sound: see [Plan].
type Decomposer func(ctx context.Context, question string) ([]SubQuery, error)

// DecomposeOptions of [DecomposeByModel].
type DecomposeOptions struct {
	Model llm.Model
	// Schema bounds what sub-queries are after; nil leaves them free.
	Schema *extract.Schema
	// Most is how many there may be; 0 means [DefaultSubQueries].
	Most int
}

// DecomposeByModel asks a model, once a question. A reply that cannot be used, and
// a refusal, leave the question as it is: there are no sub-queries then. Any other
// error is an error.
func DecomposeByModel(o DecomposeOptions) (Decomposer, error) {
	if o.Model == nil {
		return nil, errors.New("agent: the model that decomposes is missing")
	}
	if o.Most <= 0 {
		o.Most = DefaultSubQueries
	}
	values := map[string]any{"Schema": "", "Most": o.Most}
	if o.Schema != nil {
		plain, err := json.Marshal(o.Schema.Plain())
		if err != nil {
			return nil, err
		}
		values["Schema"] = string(plain)
	}
	return func(ctx context.Context, question string) ([]SubQuery, error) {
		req, err := prompts.Request(StageDecompose, "decompose", values, llm.Data{Label: "question", Text: question})
		if err != nil {
			return nil, err
		}
		req.JSON = true
		reply, _, err := llm.Decode[decomposition](ctx, o.Model, req)
		if llm.OfOneReply(err) {
			return nil, nil
		}
		return reply.subQueries(), err
	}, nil
}

// decomposition is what a model writes.
type decomposition struct {
	SubQueries *[]struct {
		ID        words `json:"id"`
		Text      words `json:"text"`
		Target    words `json:"target"`
		Types     words `json:"types"`
		DependsOn words `json:"depends_on"`
	} `json:"sub_queries"`
}

// Check implements what llm.Decode asks of replies.
func (d decomposition) Check() error {
	if d.SubQueries == nil {
		return errors.New(`the key "sub_queries" is missing`)
	}
	return nil
}

func (d decomposition) subQueries() []SubQuery {
	if d.SubQueries == nil {
		return nil
	}
	var out []SubQuery
	for _, s := range *d.SubQueries {
		out = append(out, SubQuery{ID: s.ID.one(), Text: s.Text.one(), Target: Target(s.Target.one()), Types: s.Types, DependsOn: s.DependsOn})
	}
	return out
}

// words are one text or several, as a model writes them: "a", 1, ["a", 1] or null.
type words []string

func (w *words) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		list = []json.RawMessage{data}
	}
	for _, raw := range list {
		var text string
		var number json.Number
		switch {
		case json.Unmarshal(raw, &text) == nil:
		case json.Unmarshal(raw, &number) == nil:
			text = number.String()
		}
		if text = strings.TrimSpace(llm.Printable(text)); text != "" {
			*w = append(*w, text)
		}
	}
	return nil
}

func (w words) one() string {
	if len(w) == 0 {
		return ""
	}
	return w[0]
}
