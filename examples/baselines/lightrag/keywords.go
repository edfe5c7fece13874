// SPDX-License-Identifier: Apache-2.0

package lightrag

import (
	"context"
	"embed"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm"
)

// StageKeywords names the calls for the keywords of a question in accounts.
const StageKeywords = "keywords"

// shortQuestion is the length in characters below which a question without keywords is used as its
// keyword (lightrag/operate.py).
const shortQuestion = 50

// finder finds the keywords of a question: low-level ones as names, high-level ones as themes.
type finder func(ctx context.Context, question string) (kit.Parts, error)

// byRules takes the names in the question, and its other content words as themes.
func byRules(names kit.NameFinder) finder {
	return func(ctx context.Context, question string) (kit.Parts, error) {
		low, err := names(ctx, question)
		return kit.Parts{Names: low, Themes: rules.Themes(question, low)}, err
	}
}

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts("lightrag", promptFiles)

// byModel asks for keywords. A reply that cannot be read holds none.
func byModel(model llm.Model) finder {
	return func(ctx context.Context, question string) (kit.Parts, error) {
		req, err := prompts.Request(ctx, StageKeywords, "keywords", nil, llm.Data{Label: "question", Text: question})
		if err != nil {
			return kit.Parts{}, err
		}
		found, _, err := llm.Decode[struct {
			High []string `json:"high_level_keywords"`
			Low  []string `json:"low_level_keywords"`
		}](ctx, model, req)
		return kit.Parts{Names: split(found.Low), Themes: split(found.High)}, llm.Fatal(err)
	}
}

// split splits keywords that a model wrote as one text.
func split(list []string) (out []string) {
	for _, one := range list {
		words := []string{one}
		if len(list) == 1 {
			words = strings.FieldsFunc(one, func(r rune) bool { return strings.ContainsRune(",;\n，；、", r) })
		}
		for _, w := range words {
			if w = strings.TrimSpace(w); w != "" {
				out = append(out, w)
			}
		}
	}
	return out
}

// orQuestion makes a short question without keywords its low-level keyword.
func orQuestion(k kit.Parts, question string) kit.Parts {
	question = strings.TrimSpace(question)
	if len(k.Names) == 0 && len(k.Themes) == 0 && question != "" && utf8.RuneCountInString(question) < shortQuestion {
		k.Names = []string{question}
	}
	return k
}
