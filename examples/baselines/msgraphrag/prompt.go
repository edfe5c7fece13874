// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var prompts = template.Must(template.ParseFS(promptFiles, "prompts/*.txt"))

// part is a piece of data in a prompt.
type part struct{ label, text string }

// request is a prompt from a file, with the data between marks and the question
// after it.
func request(stage, file string, words int, question string, parts ...part) (llm.Request, error) {
	data := make([]string, 0, len(parts))
	for _, p := range parts {
		data = append(data, p.text)
	}
	fence := llm.NewFence(data...)
	var system, user strings.Builder
	err := prompts.ExecuteTemplate(&system, file, struct {
		Nonce string
		Words int
	}{fence.Nonce(), words})
	if err != nil {
		return llm.Request{}, fmt.Errorf("prompt %s: %w", file, err)
	}
	for _, p := range parts {
		user.WriteString(fence.Wrap(p.label, p.text) + "\n\n")
	}
	if question != "" {
		user.WriteString("Question: " + question)
	}
	return llm.Request{Stage: stage, Messages: []llm.Message{
		{Role: llm.System, Text: strings.TrimSpace(system.String())},
		{Role: llm.User, Text: strings.TrimSpace(user.String())},
	}}, nil
}
