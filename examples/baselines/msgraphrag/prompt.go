// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"embed"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

// request is a prompt with the question, if there is one, after the data.
func request(stage, name string, words int, question string, data ...llm.Data) (llm.Request, error) {
	req, err := prompts.Request(stage, name, map[string]any{"Words": words}, data...)
	if err == nil && question != "" {
		m := &req.Messages[1]
		m.Text = strings.TrimSpace(m.Text + "\n\nQuestion: " + question)
	}
	return req, err
}
