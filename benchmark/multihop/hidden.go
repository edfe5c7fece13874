// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	"context"
	"io/fs"
	"path"
	"slices"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/short"
)

// loadAnonyRAG makes a domain of each language: anonyrag-chs and anonyrag-eng.
func loadAnonyRAG(fsys fs.FS, set, file string) (loadedSet, error) {
	folder, err := fs.Sub(fsys, path.Dir(file))
	if err != nil {
		return loadedSet{}, err
	}
	hidden, err := anonyrag.Load(folder)
	if err != nil {
		return loadedSet{}, err
	}
	for i := range hidden.Domains {
		hidden.Domains[i].Name = set + "-" + hidden.Domains[i].Name
	}
	return loadedSet{hidden.Domains, hidden.Types, hidden.Notes}, nil
}

// judges returns the procedures for the types of this package, and for the given types with hidden names.
func judges(hidden []benchmark.Type) []judge.Procedure {
	own := short.Procedure(Schemes())
	plain := own.New
	if len(hidden) > 0 {
		own.New = func(p judge.Parts) (judge.Judge, error) {
			j, err := plain(p)
			if err != nil {
				return nil, err
			}
			other, err := anonyrag.New(anonyrag.Options{Model: p.Model})
			return byType{j, other, hidden}, err
		}
	}
	return []judge.Procedure{judge.Entailment, own, short.LiveRAGProcedure}
}

// byType selects the judge by the type of a question.
type byType struct {
	judge.Judge
	hidden *anonyrag.Judge
	types  []benchmark.Type // with hidden names
}

// Name implements [judge.Judge].
func (j byType) Name() string { return j.Judge.Name() + "+" + j.hidden.Name() }

// Info describes the judge of the other types.
func (j byType) Info() judge.Info { return judge.InfoOf(j.Judge) }

// Fact implements [judge.Judge].
func (j byType) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	if slices.ContainsFunc(j.types, func(t benchmark.Type) bool { return t.Key == c.Type }) {
		return j.hidden.Fact(ctx, c)
	}
	return j.Judge.Fact(ctx, c)
}
