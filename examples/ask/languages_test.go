// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/ask/desk"
	"github.com/wildgraph/wildgraph/examples/ask/desk/desktest"
)

// In each of twelve languages at least six questions over a folder of notes are answered
// rightly, and both that the notes do not answer are refused.
func TestLanguages(t *testing.T) {
	files, err := filepath.Glob("testdata/languages/*.json")
	if err != nil || len(files) != 12 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			var set struct {
				Notes     []string
				Questions []struct{ Question, Answer string }
			}
			b, err := os.ReadFile(name)
			if err == nil {
				err = json.Unmarshal(b, &set)
			}
			if err != nil {
				t.Fatal(err)
			}
			notes := make(map[string]string)
			for i, s := range set.Notes {
				notes[fmt.Sprintf("%d.md", i)] = s
			}
			d := desktest.OpenFiles(t, notes, "wild")
			right, refused := 0, 0
			for _, q := range set.Questions {
				r, err := d.Ask(t.Context(), desk.Query{Question: q.Question})
				if err != nil {
					t.Fatal(err)
				}
				ok := r.Refused && q.Answer == "" || !r.Refused && q.Answer != "" && strings.Contains(r.Answer, q.Answer)
				switch {
				case ok && r.Refused:
					refused++
				case ok:
					right++
				default:
					near := ""
					if r.Closest != nil {
						near = r.Closest.Quote
					}
					t.Logf("%s is answered %q (%.2f, closest %q), want %q", q.Question, r.Answer, r.Confidence, near, q.Answer)
				}
			}
			t.Logf("%d of 7 right, %d of 2 refused", right, refused)
			if right < 6 || refused < 2 {
				t.Error("want 6 and 2")
			}
		})
	}
}
