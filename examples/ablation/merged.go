// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"text/tabwriter"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// mergeDomains makes one domain of all: the documents of one are noise for the
// questions of the others.
func mergeDomains(set *benchmark.Dataset) benchmark.Domain {
	merged := benchmark.Domain{Name: "merged"}
	for _, d := range set.Domains {
		for _, it := range d.Items {
			gold := make([]benchmark.Unit, len(it.Gold))
			for i, unit := range it.Gold {
				for _, doc := range unit {
					gold[i] = append(gold[i], d.Name+"/"+doc)
				}
			}
			it.Gold = gold
			merged.Items = append(merged.Items, it)
		}
	}
	merged.Documents = func() iter.Seq2[graphrag.Document, error] {
		return func(yield func(graphrag.Document, error) bool) {
			for _, d := range set.Domains {
				for doc, err := range d.Documents() {
					doc.ID = d.Name + "/" + doc.ID
					if !yield(doc, err) {
						return
					}
				}
			}
		}
	}
	return merged
}

// compareMerged prints the recall of every system over the domains apart and over
// all of them in one corpus.
func compareMerged(ctx context.Context, set *benchmark.Dataset, names []string, stdout io.Writer) error {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "system (offline)\tR@5 apart\tmerged\tdifference\t")
	for _, name := range names {
		s, ok := all.Find(name)
		if !ok {
			return fmt.Errorf("there is no system %q", name)
		}
		apart, err := meanRecall(ctx, k, s, set.Domains...)
		if err != nil {
			return err
		}
		merged, err := meanRecall(ctx, k, s, mergeDomains(set))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%+.1f\t\n", s.Name, apart, merged, merged-apart)
		w.Flush()
	}
	return w.Flush()
}

// meanRecall is recall at 5 in percent, as the mean over all questions.
func meanRecall(ctx context.Context, k kit.Kit, s all.System, domains ...benchmark.Domain) (float64, error) {
	sum, n := 0.0, 0
	for _, d := range domains {
		system, err := s.New(k, kit.Common{})
		if err != nil {
			return 0, err
		}
		if _, err := system.Index(ctx, d.Documents()); err != nil {
			return 0, err
		}
		for _, it := range d.Items {
			found, err := system.Retrieve(ctx, graphrag.Question{Text: it.Question.Text, K: 5, Depth: 10})
			if err != nil {
				return 0, err
			}
			e := benchmark.Measure(it, record.NewAnswer(record.Key{}, graphrag.Answer{Ranked: found.Ranked}, nil, false))
			if e.RecallAt5 != nil {
				sum += *e.RecallAt5
			}
			n++
		}
		if err := system.Close(); err != nil {
			return 0, err
		}
	}
	return 100 * sum / float64(max(n, 1)), nil
}
