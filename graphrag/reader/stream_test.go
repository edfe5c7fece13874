// SPDX-License-Identifier: Apache-2.0

package reader_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/llm"
)

// writing is a model that writes byte by byte.
type writing struct{ fake }

func (w *writing) Stream(ctx context.Context, req llm.Request, piece func(string) error) (llm.Reply, error) {
	reply, err := w.Generate(ctx, req)
	for i := range reply.Text {
		if err := piece(reply.Text[i : i+1]); err != nil {
			return llm.Reply{}, err
		}
	}
	return reply, err
}

// An answer grows by what is settled, without half a mark, to what Read returns.
func TestStreamByModel(t *testing.T) {
	m := &writing{fake{reply: "Owls hunt by ear [1]. They fly [1, 2] silently [sic]."}}
	r := byModel(t, reader.ModelOptions{Model: m})
	q, evidence := graphrag.Question{Text: "How do owls hunt?"}, hits("Owls hunt by ear.", "Owls fly silently.")
	want, err := r.Read(t.Context(), q, evidence, nil)
	if err != nil || len(want.Citations) == 0 {
		t.Fatal(want, err)
	}
	var last graphrag.Answer
	pieces := 0
	for a, err := range reader.Stream(t.Context(), r, q, evidence, nil) {
		if err != nil || !strings.HasPrefix(a.Text, last.Text) || strings.Contains(a.Text, "[1") {
			t.Fatalf("%q after %q, %v", a.Text, last.Text, err)
		}
		last, pieces = a, pieces+1
	}
	if diff := cmp.Diff(want, last); diff != "" || pieces < 20 {
		t.Errorf("%d pieces: %s", pieces, diff)
	}
	for range reader.Stream(t.Context(), r, q, evidence, nil) {
		break
	}
	extractive, err := reader.Extractive(reader.ExtractiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pieces = 0
	for range reader.Stream(t.Context(), extractive, q, evidence, nil) {
		pieces++
	}
	if pieces != 1 {
		t.Errorf("an extractive reader streams %d pieces", pieces)
	}
}
