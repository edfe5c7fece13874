// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var prompts = template.Must(template.ParseFS(promptFiles, "prompts/*.txt"))

// request writes the prompt for a question: the rules as the system message,
// the material and the question as the user's. Equal input gives equal bytes.
func request(q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived, mode Mode) (llm.Request, error) {
	var notes, passages []string
	for _, d := range derived {
		notes = append(notes, printable(d.Text))
	}
	for _, h := range evidence {
		passages = append(passages, passage(h.Chunk))
	}
	values := struct {
		Nonce, Question, Refusal string
		Notes, Passages          []string
		Fact, Summary, Reject    bool
	}{
		Question: printable(q.Text),
		Refusal:  Refusal,
		Fact:     q.Type == graphrag.SingleFact || q.Type == graphrag.MultiFact,
		Summary:  q.Type == graphrag.Summary,
		Reject:   mode == Reject,
	}
	if len(notes)+len(passages) > 0 {
		data := append(append([]string{values.Question}, notes...), passages...)
		fence := llm.NewFence(data...)
		values.Nonce = fence.Nonce()
		for i, note := range notes {
			values.Notes = append(values.Notes, fence.Wrap(noteLabel(derived[i].Kind), note))
		}
		for i, p := range passages {
			values.Passages = append(values.Passages, fence.Wrap(fmt.Sprintf("passage %d", i+1), p))
		}
	}
	var system, user strings.Builder
	if err := prompts.ExecuteTemplate(&system, "system.txt", values); err != nil {
		return llm.Request{}, err
	}
	if err := prompts.ExecuteTemplate(&user, "user.txt", values); err != nil {
		return llm.Request{}, err
	}
	return llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: strings.TrimSpace(system.String())},
			{Role: llm.User, Text: strings.TrimSpace(user.String())},
		},
		Stage:    "read",
		Question: q.ID,
	}, nil
}

// passage is what the prompt shows of a chunk: the title of its page, if any,
// and the text.
func passage(c graphrag.Chunk) string {
	body := printable(strings.TrimSpace(c.Text))
	title := strings.Join(strings.Fields(printable(c.Title)), " ")
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

// printable drops control characters and bytes that are not valid UTF-8:
// servers refuse them, and no reader sees them.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r != unicode.ReplacementChar && !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
}
