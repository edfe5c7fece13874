// SPDX-License-Identifier: Apache-2.0

package extract_test

import (
	"context"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
)

func FuzzRecords(f *testing.F) {
	f.Add(tupleAnswer)
	f.Add(lineAnswer)
	f.Add(boundedAnswer)
	f.Add("(\"entity\"<|>a<|>b<|>c)##<|COMPLETE|>(\"relationship\"<|>a<|>b<|>c<|>1e309)")
	var m says
	var extractors []extract.Extractor
	for _, format := range []extract.Format{extract.Tuples, extract.Lines, extract.Objects} {
		o := extract.ModelOptions{Model: &m, Concurrency: 1}
		x, err := extract.NewRecords(extract.RecordOptions{ModelOptions: o, Format: format, Gleanings: extract.NoGleaning, Types: []string{"ship", "person"}})
		if err != nil {
			f.Fatal(err)
		}
		extractors = append(extractors, x)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		m = says(answer)
		for _, e := range extractors {
			x := got(t, e, nil, "Colin Archer built the Fram.")
			known := make(map[string]bool)
			for _, n := range mentioned(x) {
				known[n] = true
				if n == "" || strings.ContainsAny(n, "\n\x1f\x00") {
					t.Errorf("name %q", n)
				}
			}
			for _, fact := range x.Facts {
				if !known[fact.Head] || !known[fact.Tail] || !(fact.Weight >= 0) {
					t.Errorf("fact %+v", fact)
				}
			}
			b, err := kg.NewBase(kg.Options{})
			if err == nil {
				err = b.Insert(x)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// says is a model that gives one answer.
type says string

func (says) Name() string { return "says" }

func (s *says) Generate(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: string(*s)}, nil
}
