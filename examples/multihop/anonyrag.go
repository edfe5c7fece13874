// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/shortanswer"
)

// anonyName is the data set whose names are hidden, and the folder it stands in: the
// last columns of the published tables.
const anonyName = "anonyrag"

// addAnonyRAG appends the languages of AnonyRAG, as columns anonyrag-chs and
// anonyrag-eng.
func addAnonyRAG(set *benchmark.Dataset, fsys fs.FS) error {
	folder, err := fs.Sub(fsys, anonyName)
	if err != nil {
		return err
	}
	hidden, err := anonyrag.Load(folder)
	if err != nil {
		return fmt.Errorf("%s: %w", anonyName, err)
	}
	for _, t := range hidden.Types {
		t.K, t.Swept = multihop.DefaultK, true
		set.Types = append(set.Types, t)
	}
	for _, d := range hidden.Domains {
		d.Name = anonyName + "-" + d.Name
		set.Domains = append(set.Domains, d)
	}
	set.Notes = append(set.Notes, hidden.Notes...)
	return nil
}

// title is what a data set is called in a table.
func title(set string) string {
	switch set {
	case anonyName + "-chs":
		return "Anony-CHS"
	case anonyName + "-eng":
		return "Anony-ENG"
	}
	return multihop.Title(set)
}

// judges hands each question to the judge of its data set.
type judges struct {
	*shortanswer.Judge
	hidden *anonyrag.Judge
	types  []string // of questions with hidden names
}

// Name implements [judge.Judge].
func (j judges) Name() string { return j.Judge.Name() + "+" + j.hidden.Name() }

// Fact implements [judge.Judge].
func (j judges) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	if slices.Contains(j.types, c.Type) {
		return j.hidden.Fact(ctx, c)
	}
	return j.Judge.Fact(ctx, c)
}
