// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/internal/check"
)

// plain is a question of testdata/plain, whose README says when an answer is right.
type plain struct {
	ID, Question, Answer, File string
	Keys                       []string
	Held                       bool
}

func plainQuestions(t *testing.T) (out []plain) {
	t.Helper()
	f := check.Of(os.Open("testdata/plain/questions.jsonl")).OK(t)
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var q plain
		check.OK(t, json.Unmarshal(s.Bytes(), &q))
		out = append(out, q)
	}
	return out
}

// right tells whether an answer is right, as the README of the questions has it.
func (q plain) right(a graphrag.Answer) bool {
	said := strings.ToLower(strings.Join(strings.Fields(a.Text), " "))
	for _, key := range q.Keys {
		if !slices.ContainsFunc(strings.Split(key, "|"), func(form string) bool { return strings.Contains(said, strings.ToLower(form)) }) {
			return false
		}
	}
	cited := slices.ContainsFunc(a.Citations, func(c graphrag.Citation) bool { return a.Evidence[c.Evidence].Chunk.Doc == q.File })
	return len(q.Keys) > 0 && cited && len(strings.Fields(a.Text)) <= 60
}

// tally counts answers to plain questions.
type tally struct{ asked, answerable, answered, right, rightly int }

func (c *tally) add(q plain, a graphrag.Answer) {
	c.asked++
	if len(q.Keys) > 0 {
		c.answerable++
	}
	if !a.Refused {
		c.answered++
	}
	if !a.Refused && q.right(a) {
		c.right++
	}
	if a.Refused && len(q.Keys) == 0 {
		c.rightly++
	}
}

// Plain questions over a small folder: what is answered in reject mode is right nine
// times in ten, and most of what can be answered is, by the default system and by chunks
// of a few paragraphs.
func TestPlainQuestions(t *testing.T) {
	for _, name := range []string{"wild", "bm25"} {
		t.Run(name, func(t *testing.T) { plainQuestionsBy(t, name) })
	}
}

func plainQuestionsBy(t *testing.T, name string) {
	parts, err := kit.Offline(kit.OfflineOptions{Seed: 1, Mode: reader.Reject})
	check.OK(t, err)
	var system *kit.System
	files := new(folder.Files)
	if name == "bm25" { // as it was cut, without the files
		system, err = flat.NewBM25(parts, flat.BM25Options{Common: kit.Common{Cut: kit.Cut{Size: 300, Overlap: 50, KeepLinks: true}}})
	} else {
		parts.Read = files.Reader(parts.Read, true)
		system, err = wild.New(parts, wild.Options{})
	}
	check.OK(t, err)
	f, _, err := folder.Open(t.Context(), folder.Options{Docs: "testdata/plain/docs", Index: t.TempDir(), System: system, Files: files})
	check.OK(t, err)
	defer f.Close()
	var dev, held tally
	for _, q := range plainQuestions(t) {
		a := check.Of(f.System.Answer(t.Context(), graphrag.Question{Text: q.Question, K: 5})).OK(t)
		if q.Held {
			held.add(q, a)
		} else {
			dev.add(q, a)
		}
		mark := "wrong"
		switch {
		case a.Refused && len(q.Keys) == 0, !a.Refused && q.right(a):
			mark = "right"
		case a.Refused:
			mark = "refused"
		}
		t.Logf("%s %-7s %.2f %s → %s (%s)", q.ID, mark, a.Confidence, q.Question, a.Text, q.Answer)
	}
	t.Logf("made with: %+v, held out: %+v", dev, held)
	if answered, right := dev.answered+held.answered, dev.right+held.right; float64(right) < .9*float64(answered) || 10*answered < 6*(dev.answerable+held.answerable) {
		t.Errorf("%d of %d answers are right, of %d that there are", right, answered, dev.answerable+held.answerable)
	}
}
