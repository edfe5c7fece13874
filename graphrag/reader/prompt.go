// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"embed"
	"fmt"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

// request writes the prompt for a question: the rules as the system message,
// the material and the question as the user's. Equal input gives equal bytes.
func request(q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived, mode Mode) (llm.Request, error) {
	question := llm.Printable(q.Text)
	data := []llm.Data{{Text: question}}
	for _, d := range derived {
		data = append(data, llm.Data{Label: noteLabel(d.Kind), Text: llm.Printable(d.Text)})
	}
	for i, h := range evidence {
		data = append(data, llm.Data{Label: fmt.Sprintf("passage %d", i+1), Text: passage(h.Chunk)})
	}
	req, err := prompts.Request("read", "read", map[string]any{
		"Question": strings.TrimSpace(question),
		"Refusal":  Refusal,
		"Passages": len(evidence) > 0,
		"Form":     string(q.Form),
		"Reject":   mode == Reject,
	}, data...)
	req.Question = q.ID
	return req, err
}

// passage is what the prompt shows of a chunk: the title of its page, if any,
// and the text.
func passage(c graphrag.Chunk) string {
	body := llm.Printable(strings.TrimSpace(c.Text))
	title := strings.Join(strings.Fields(llm.Printable(c.Title)), " ")
	if title == "" {
		return body
	}
	return "Page: " + title + "\n" + body
}

// noteLabel makes a label of the kind of a derived text: letters only, so that
// it cannot close a mark.
func noteLabel(kind string) string {
	kind = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, kind)
	if kind == "" {
		return "note"
	}
	return kind
}
