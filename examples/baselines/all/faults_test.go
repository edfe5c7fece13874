// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"context"
	"errors"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

var errFault = errors.New("a fault on purpose")

// faults break one part, and notice whether it was used.
type faults struct {
	part string
	met  bool
}

func (f *faults) at(part string) error {
	if f.part != part {
		return nil
	}
	f.met = true
	return errFault
}

// in returns a kit with the faults.
func (f *faults) in(k kit.Kit) kit.Kit {
	breaking := func(own func() (kit.Extraction, error)) func() (kit.Extraction, error) {
		return func() (kit.Extraction, error) {
			x, err := own()
			x.Extractor = faulty{x.Extractor, f}
			return x, err
		}
	}
	records, own := k.Records, k.Find
	k.Entities, k.Triples = breaking(k.Entities), breaking(k.Triples)
	k.Records = func(o extract.RecordOptions) (kit.Extraction, error) {
		return breaking(func() (kit.Extraction, error) { return records(o) })()
	}
	k.Find = func(ctx context.Context, fitted func(context.Context) (embed.Embedder, error), texts text.List) (retrieve.Texts, error) {
		if err := f.at("look-up"); err != nil {
			return nil, err
		}
		return own(ctx, fitted, texts)
	}
	return k
}

type faulty struct {
	extract.Extractor
	f *faults
}

func (x faulty) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	if err := x.f.at("extractor"); err != nil {
		return nil, err
	}
	return x.Extractor.Extract(ctx, chunks)
}
