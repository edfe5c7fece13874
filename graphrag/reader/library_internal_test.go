// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// A text is read once, and a library that has read enough is followed by another.
func TestLibrary(t *testing.T) {
	l := newLibrary(text.Default())
	from := source{title: "Tides", text: "Tides\nThe moon raises the tides. The sun does as well."}
	if first := l.read(from); first != l.read(from) || len(first.quotes) != 2 {
		t.Errorf("read twice, or %d quotes instead of 2", len(first.quotes))
	}
	if l.full() {
		t.Error("full after one page")
	}
	for i := range 5 {
		l.read(source{text: fmt.Sprint(i, strings.Repeat(" ", 4<<20))})
	}
	if !l.full() {
		t.Error("not full after 20 MB")
	}
}

// Answers do not depend on what was asked before, at the same time, or in another library.
func TestLibraryIsNotSeen(t *testing.T) {
	var evidence []graphrag.Hit
	for i := range 12 {
		body := fmt.Sprintf("# Harbor %d\n\nThe harbor of town %d has %d piers. Its light was built in %d.\n\n- boats: %d\n- cranes: %d\n", i, i, i+2, 1800+i, i*3, i)
		evidence = append(evidence, graphrag.Hit{Chunk: graphrag.Chunk{ID: fmt.Sprint(i), Doc: fmt.Sprint(i), Text: body, End: len(body)}})
	}
	ask := func(r Reader, i int) graphrag.Answer {
		q := graphrag.Question{Text: fmt.Sprintf("When was the light of the harbor of town %d built?", i), Form: []graphrag.Form{graphrag.Sentence, graphrag.Overview}[i%2]}
		a, err := r.Read(t.Context(), q, evidence[:6+i%6], nil)
		if err != nil {
			t.Error(err)
		}
		return a
	}
	fresh := func() *extractive {
		r, err := Extractive(ExtractiveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r.(*extractive)
	}
	shared := fresh()
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			if i == 12 { // as when it is full
				shared.mu.Lock()
				clear(shared.known)
				shared.mu.Unlock()
			}
			if diff := cmp.Diff(ask(fresh(), i%12), ask(shared, i%12)); diff != "" {
				t.Errorf("question %d: -alone +shared\n%s", i%12, diff)
			}
		})
	}
	all.Wait()
	if a := ask(shared, 5); !strings.Contains(a.Text, "Its light was built in") {
		t.Errorf("answered %q", a.Text)
	}
}
