// SPDX-License-Identifier: Apache-2.0

package program

import (
	"maps"
	"os"
	"testing"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/ask/session/sessiontest"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Long files that have no part in an answer do not change it, nor make it a refusal, whatever
// words they share with the question.
func TestUnrelatedFiles(t *testing.T) {
	var near struct {
		Files     map[string]string
		Questions []struct {
			Question string
			Before   []string
		}
	}
	read(t, "testdata/near.json", &near)
	files, asked := maps.Clone(near.Files), []string{}
	for _, q := range near.Questions {
		if len(q.Before) == 0 {
			asked = append(asked, q.Question)
		}
	}
	english := folders(t, "testdata/languages/*.json")["english"]
	maps.Copy(files, english.files("english"))
	for _, q := range english.Questions {
		asked = append(asked, q.Question)
	}
	alone := sessiontest.OpenFiles(t, files, "wild")
	for _, name := range []string{"systems.md", "benchmark.md", "stores.md", "judge.md"} {
		b := check.Of(os.ReadFile("../../docs/" + name)).OK(t)
		files[name] = string(b)
	}
	among := sessiontest.OpenFiles(t, files, "wild")
	for _, q := range asked {
		before := check.Of(alone.Ask(t.Context(), session.Query{Question: q})).OK(t)
		after := check.Of(among.Ask(t.Context(), session.Query{Question: q})).OK(t)
		check.True(t, before.Refused == after.Refused && before.Answer == after.Answer,
			"%s is answered %q (%.2f), and %q (%.2f) among files of something else", q, before.Answer, before.Confidence, after.Answer, after.Confidence)
	}
}
