// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// The records of a folder are counted.
func Example() {
	dir, err := os.MkdirTemp("", "records")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	log, err := record.Open(dir)
	if err != nil {
		panic(err)
	}
	defer log.Close()
	cell := record.Cell{System: "bm25", Domain: "owls"}
	for i, question := range []string{"How do owls hunt?", "How do owls fly?"} {
		key := record.Key{Cell: cell, ID: fmt.Sprint("owls/", i+1), Question: question, K: 5, Depth: 10}
		if err := log.Add(record.Answer{Key: key, Text: "By ear."}); err != nil {
			panic(err)
		}
	}
	refused, answers := 0, 0
	for r, err := range log.Records() {
		if err != nil {
			panic(err)
		}
		if a, ok := r.(record.Answer); ok {
			answers++
			if a.Refused {
				refused++
			}
		}
	}
	fmt.Println(answers, "answers,", refused, "refused")
	// Output:
	// 2 answers, 0 refused
}

// A record is found by everything that its key contains, and only by that.
func TestLog(t *testing.T) {
	settings, err := record.NewSettings(map[string]any{"chunk_size": 300})
	check.OK(t, err)
	cell := record.Cell{System: "bm25", Domain: "owls", Corpus: "c", Settings: settings.Digest}
	key := record.Key{Cell: cell, ID: "1", Question: "How?", Form: "sentence", K: 5, Depth: 10}
	want := []record.Record{
		settings,
		record.Index{Cell: cell, Bytes: 7, Edges: 2},
		record.Answer{Key: key, Text: "So.", Ranked: []record.Ranked{}, Evidence: []record.Evidence{{Chunk: "a#0", Doc: "a", Tokens: 3}}},
		record.Judgment{Key: key, Judge: "exact", Case: "x", Fact: &judge.FactJudgment{Verdict: judge.Score(1, "")}},
		record.Closing{Cell: cell},
	}
	dir := t.TempDir()
	for round := range 2 {
		log, err := record.Open(dir)
		check.OK(t, err)
		_, err = record.Open(dir)
		check.Fails(t, err, "in use", "opened twice")
		if round == 0 {
			for _, r := range want {
				check.OK(t, log.Add(r))
			}
		}
		var got []record.Record
		for r, err := range log.Records() {
			check.OK(t, err)
			got = append(got, r)
		}
		if round == 1 { // the second round has the numbers that JSON gives
			want[0] = record.Settings{Digest: settings.Digest, Values: map[string]any{"chunk_size": 300.0}}
		} else {
			got[0] = settings
		}
		check.Equal(t, got, want, "round %d", round)
		a, ok := log.Answer(key)
		check.True(t, ok && a.Ranked != nil, "the answer: %+v, %v", a, ok)
		for _, change := range []func(*record.Key){
			func(k *record.Key) { k.System = "x" }, func(k *record.Key) { k.Domain = "x" }, func(k *record.Key) { k.Corpus = "x" },
			func(k *record.Key) { k.Settings = "x" }, func(k *record.Key) { k.ID = "x" }, func(k *record.Key) { k.Question = "x" },
			func(k *record.Key) { k.Form = "x" }, func(k *record.Key) { k.K++ }, func(k *record.Key) { k.Tokens++ }, func(k *record.Key) { k.Depth++ },
		} {
			other := key
			change(&other)
			_, answered := log.Answer(other)
			_, judged := log.Judgment(other, "exact", "x")
			check.True(t, !answered && !judged, "%+v finds the records of %+v", other, key)
		}
		_, first := log.Judgment(key, "exact", "x")
		_, second := log.Judgment(key, "mild", "x")
		_, third := log.Judgment(key, "exact", "y")
		_, index := log.Index(cell)
		_, closing := log.Closing(cell)
		_, known := log.Settings(settings.Digest)
		check.Equal(t, []bool{first, second, third, index, closing, known}, []bool{true, false, false, true, true, true})
		check.OK(t, log.Close())
	}
	check.True(t, check.Err(record.NewSettings(map[string]any{"f": func() {}})) != nil, "settings that cannot be written are accepted")
	a, b := record.Digest("ab", "c"), record.Digest("a", "bc")
	check.True(t, a != b, "texts are joined before they are hashed")
	memory := record.New()
	err = errors.Join(memory.Add(want[2]), memory.Close())
	check.OK(t, err)
	_, ok := memory.Answer(key)
	check.True(t, ok, "not kept in memory")
}

// If the file of records is removed while in use, the next append is an error that says what the file held.
func TestFolderTakenAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	log, err := record.Open(dir)
	check.OK(t, err)
	key := record.Key{ID: "1"}
	check.OK(t, log.Add(record.Answer{Key: key}))
	if err := os.RemoveAll(dir); err != nil {
		t.Skip(err)
	}
	err = log.Add(record.Judgment{Key: key})
	check.True(t, errors.Is(err, journal.ErrGone) && strings.Contains(err.Error(), "the 1 answers and 0 judgments in it are lost"), "%v", err)
	_ = log.Close()
}

// Forgotten records are removed, damaged or not; a folder in use is not changed.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	check.OK(t, record.Forget(dir), "nothing to forget")
	log := check.Of(record.Open(dir)).OK(t)
	key := record.Key{ID: "1"}
	check.OK(t, log.Add(record.Answer{Key: key}))
	check.Is(t, record.Forget(dir), journal.ErrLocked, "in use")
	check.OK(t, log.Close())
	name := filepath.Join(dir, record.JournalName)
	for range 2 { // in the second round the records are damaged
		check.OK(t, record.Forget(dir))
		log = check.Of(record.Open(dir)).OK(t)
		_, ok := log.Answer(key)
		check.True(t, !ok, "not forgotten")
		check.OK(t, errors.Join(log.Close(), os.WriteFile(name, []byte("no journal"), 0o644)))
	}
}
