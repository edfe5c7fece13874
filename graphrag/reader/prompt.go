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
	data := append([]llm.Data{{Text: question}}, derivedData(derived)...)
	for i, h := range evidence {
		data = append(data, llm.Data{Label: fmt.Sprintf("passage %d", i+1), Text: passage(h.Chunk)})
	}
	facts, reports := numbered(derived)
	req, err := prompts.Request("read", "read", map[string]any{
		"Question": strings.TrimSpace(question),
		"Refusal":  Refusal,
		"Passages": len(evidence) > 0,
		"Facts":    len(facts) > 0,
		"Reports":  len(reports) > 0,
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

// long tells whether a derived text of this kind is shown by itself, as a passage
// is, and grown whether it stands for several sources and is cited as a report.
func long(kind string) bool  { return kind == "report" || kind == "summary" || kind == "answer" }
func grown(kind string) bool { return long(kind) || kind == "point" }

// numbered are the places of derived texts in the order of their numbers: facts are
// cited as [F1], [F2], … and reports as [R1], ….
func numbered(derived []graphrag.Derived) (facts, reports []int) {
	for i, d := range derived {
		if grown(d.Kind) {
			reports = append(reports, i)
		} else {
			facts = append(facts, i)
		}
	}
	return facts, reports
}

// derivedData shows derived texts in their order: long ones each between marks of
// its own, neighbours among the short ones as the lines of one list.
func derivedData(derived []graphrag.Derived) (data []llm.Data) {
	next := map[string]int{"F": 1, "R": 1}
	for i := 0; i < len(derived); {
		prefix := prefixOf(derived[i].Kind)
		first := next[prefix]
		if long(derived[i].Kind) {
			data = append(data, llm.Data{Label: fmt.Sprintf("%s %s%d", noteLabel(derived[i].Kind), prefix, first), Text: llm.Printable(derived[i].Text)})
			next[prefix]++
			i++
			continue
		}
		var rows []string
		for ; i < len(derived) && prefixOf(derived[i].Kind) == prefix && !long(derived[i].Kind); i++ {
			rows = append(rows, llm.Printable(derived[i].Text))
		}
		label := map[string]string{"F": "facts", "R": "points"}[prefix]
		data = append(data, llm.Data{Label: label, Rows: rows, Prefix: prefix, First: first})
		next[prefix] += len(rows)
	}
	return data
}

func prefixOf(kind string) string {
	if grown(kind) {
		return "R"
	}
	return "F"
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
