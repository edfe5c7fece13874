// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
)

// A file that has no part in an answer does not change it: long pages about other things
// beside the notes, in the words that many questions use too, leave answers and refusals as
// they are.
func TestUnrelatedPages(t *testing.T) {
	answers := func(pages int) map[string]graphrag.Answer {
		docs := t.TempDir()
		if err := os.CopyFS(docs, os.DirFS("testdata/plain/docs")); err != nil {
			t.Fatal(err)
		}
		for i := range pages {
			if err := os.WriteFile(filepath.Join(docs, fmt.Sprintf("other%d.md", i)), []byte(unrelated(uint64(i))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f, _, err := folder.Open(t.Context(), folder.Options{Docs: docs, Index: t.TempDir(), New: func(f *folder.Folder) (*kit.System, error) {
			parts, err := kit.Offline(kit.OfflineOptions{Seed: 1, Mode: reader.Reject})
			if err != nil {
				return nil, err
			}
			parts.Read = f.Reader(parts.Read, true)
			return wild.New(parts, wild.Options{})
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out := make(map[string]graphrag.Answer)
		for _, q := range plainQuestions(t) {
			if out[q.Question], err = f.Answer(t.Context(), graphrag.Question{Text: q.Question, K: 5}); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	alone, beside := answers(0), answers(3)
	for question, want := range alone {
		if got := beside[question]; got.Text != want.Text || got.Refused != want.Refused {
			t.Errorf("%s: %q (%.2f) beside other pages, %q (%.2f) alone", question, got.Text, got.Confidence, want.Text, want.Confidence)
		}
	}
}

// unrelated is a long page of sentences about beetles.
func unrelated(seed uint64) string {
	rnd := rand.New(rand.NewPCG(seed, 1))
	of := func(words string) string { w := strings.Fields(words); return w[rnd.IntN(len(w))] }
	var b strings.Builder
	fmt.Fprintf(&b, "# Beetles, part %d\n\n", seed+1)
	for i := range 400 {
		fmt.Fprintf(&b, "The %s %s %s the %s in the %s of %d. ", of("long usual main name kind time year"), of("beetle weevil ladybird chafer larva"),
			of("does uses has means gives gets"), of("elytra antenna pupa mandible thorax"), of("day year time month"), 1700+rnd.IntN(300))
		if i%6 == 5 {
			b.WriteString("\n\n")
		}
	}
	return b.String()
}
