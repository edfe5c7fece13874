// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// What the notes say of a ferry, a chain of three facts among it, and what a model must find to
// tell its whole history.
var ferry = []string{
	"The ferry Marit Dalen was made at the Holmvik yard in 1931.", "The Holmvik yard was founded by Henrik Aas.", "Henrik Aas was born in Tresund.",
	"The Marit Dalen carried mail between Eide and Grip.", "In 1944 the Marit Dalen struck a mine off Grip.", "A stone in Eide recalls those lost with the Marit Dalen.",
	"Divers saw the wreck of the Marit Dalen in 1998.", "The Marit Dalen bore the name of a teacher.", "The school in Eide keeps the bell of the Marit Dalen.",
}

// Short notes are read to a floor of tokens, and more for an overview, so that a model finds every
// step of a chain and every part of a history.
func TestReadsEnough(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		note := fmt.Sprintf("The ferry number %d sailed to another harbour with post and cattle.", i)
		if i < len(ferry) {
			note = ferry[i]
		}
		check.OK(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("note%02d.md", i)), []byte(note+strings.Repeat(" It was a cold day.", 7)), 0o644))
	}
	overview := false
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		overview = strings.Contains(req.Messages[0].Text, "covers every relevant fact")
		found := 0
		for i, f := range ferry {
			if (overview && strings.Contains(f, "Marit Dalen") || !overview && i < 3) && strings.Contains(req.Messages[1].Text, f) {
				found++
			}
		}
		return llm.Reply{Text: fmt.Sprintf("%d notes about the ferry were read [1].", found)}
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "none")
	for _, system := range []string{"wild", "bm25"} {
		for question, want := range map[string]string{
			"Where was the founder of the yard born that made the ferry Marit Dalen?": "3 notes", "Summarize the history of the ferry Marit Dalen.": "7 notes",
		} {
			flags := []string{"-docs", dir, "-index", t.TempDir(), "-system", system, "-model", "fake"}
			out, errs, err := ask(t, "", append(flags, question)...)
			check.True(t, err == nil && strings.HasPrefix(out, want) && overview == (want == "7 notes"),
				"%s: %q: overview %v, %v, want %s\n%s%s", system, question, overview, err, want, out, errs)
			if out, _, _ = ask(t, "", append(flags, "-k", "2", question)...); strings.HasPrefix(out, want) {
				t.Errorf("%s: %q: -k 2 reads as much", system, question)
			}
		}
	}
}
