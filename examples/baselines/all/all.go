// SPDX-License-Identifier: Apache-2.0

// Package all is the registry of the systems under examples/baselines.
package all

import (
	"slices"

	"github.com/wildgraph/wildgraph/examples/baselines/bm25"
	"github.com/wildgraph/wildgraph/examples/baselines/e2graphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/fastgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/examples/baselines/gretriever"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/ircot"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/baselines/linearrag"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/naiverag"
	"github.com/wildgraph/wildgraph/examples/baselines/raptor"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/examples/baselines/zeroshot"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// System is a published system, or one of our own.
type System struct {
	Name string
	// Source is who published it; "" is nobody.
	Source string
	// New makes it of a kit, with the settings of its paper.
	New func(k kit.Kit, c kit.Common) (*kit.System, error)
	// Blind tells that it reads no documents, and so does not run without a model.
	Blind bool
	// Calls are the calls of a model that it makes, see [Calls].
	Calls Calls
	// Also are other names of it: where a published system is another one in all
	// that it does, they are one, with one row in reports.
	Also []string
}

// Calls counts the calls of a model over pages of one chunk each that have no name in
// common: to index one chunk, to search for one question (before it is answered), and
// once for the corpus. Reports are one a chunk there. What depends on the number of
// chunks otherwise is counted for the 19 pages of the sample's seafaring.
type Calls struct{ Chunk, Question, Once int }

// Is tells whether the system has this name, or has it also.
func (s System) Is(name string) bool { return s.Name == name || slices.Contains(s.Also, name) }

// Systems lists them in the order of reports.
func Systems() []System {
	return []System{
		{Name: naiverag.Name, Source: "Lewis and others 2020", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return naiverag.New(k, naiverag.Options{Common: c})
		}, Also: []string{lightrag.Name + "-" + string(lightrag.Naive)}},
		{Name: bm25.Name, Source: "Robertson and Zaragoza 2009", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return bm25.New(k, bm25.Options{Common: c})
		}},
		{Name: wild.Name, Source: "", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return wild.New(k, wild.Options{Common: c})
		}},
		// Calls: no gleaning; entities of the question.
		{Name: fastgraphrag.Name, Source: "Circlemind 2024", Calls: Calls{Chunk: 1, Question: 1}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return fastgraphrag.New(k, fastgraphrag.Options{Common: c})
		}},
		// Calls: a graph and a report.
		{Name: msgraphrag.NameLocal, Source: "Edge and others 2024", Calls: Calls{Chunk: 2}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return msgraphrag.NewLocal(k, msgraphrag.LocalOptions{Options: msgraphrag.Options{Common: c}})
		}},
		// Calls: one batch of reports.
		{Name: msgraphrag.NameGlobal, Source: "Edge and others 2024", Calls: Calls{Chunk: 2, Question: 1}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Options: msgraphrag.Options{Common: c}})
		}},
		// Calls: a rating of each report.
		{Name: msgraphrag.NameDynamic, Source: "Edge and others 2024", Calls: Calls{Chunk: 2, Question: 19 + 1}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Options: msgraphrag.Options{Common: c}, Dynamic: true})
		}},
		// Calls: a hypothetical answer, folds of reports, a follow-up of each.
		{Name: msgraphrag.NameDrift, Source: "Edge and others 2024", Calls: Calls{Chunk: 2, Question: 1 + 5 + 5}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return msgraphrag.NewDrift(k, msgraphrag.DriftOptions{Options: msgraphrag.Options{Common: c}})
		}},
		lightRAG(lightrag.Hybrid),
		lightRAG(lightrag.Local),
		lightRAG(lightrag.Global),
		lightRAG(lightrag.Mix),
		// Calls: names, triples; names of the question.
		{Name: hipporag.Name, Source: "Gutiérrez and others 2024", Calls: Calls{Chunk: 2, Question: 1}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return hipporag.New(k, hipporag.Options{Common: c})
		}},
		// Calls: names of the question and of a thought, which is repeated.
		{Name: ircot.Name, Source: "Trivedi and others 2023", Calls: Calls{Chunk: 2, Question: 2 + 2}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return ircot.New(k, ircot.Options{Options: hipporag.Options{Common: c}})
		}},
		// Calls: names, triples; the filter.
		{Name: hipporag2.Name, Source: "Gutiérrez and others 2025", Calls: Calls{Chunk: 2, Question: 1}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return hipporag2.New(k, hipporag2.Options{Common: c})
		}},
		{Name: linearrag.Name, Source: "Zhuang and others 2025", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return linearrag.New(k, linearrag.Options{Common: c})
		}},
		// Calls: decompose, draft, one reflection; a schema, a batch of names.
		{Name: youtu.Name, Source: "Dong and others 2025", Calls: Calls{Chunk: 1, Question: 3, Once: 2}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return youtu.New(k, youtu.Options{Common: c})
		}},
		{Name: youtu.NameNoAgent, Source: "Dong and others 2025", Calls: Calls{Chunk: 1, Question: 1, Once: 2}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return youtu.New(k, youtu.Options{Common: c, NoAgent: true})
		}},
		// Calls: names, triples; read, reflect, filter.
		{Name: gear.Name, Source: "Shen and others 2025", Calls: Calls{Chunk: 2, Question: 3}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return gear.New(k, gear.Options{Common: c})
		}},
		{Name: gear.NameOriginal, Source: "Shen and others 2024", Calls: Calls{Chunk: 2, Question: 3}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return gear.New(k, gear.Options{Common: c, Original: true})
		}},
		// Calls: summaries, one for ten leaves.
		{Name: raptor.Name, Source: "Sarthi and others 2024", Calls: Calls{Once: 18}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return raptor.New(k, raptor.Options{Common: c})
		}},
		{Name: e2graphrag.Name, Source: "Zhao and others 2025", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return e2graphrag.New(k, e2graphrag.Options{Common: c})
		}},
		{Name: gretriever.Name, Source: "He and others 2024", Calls: Calls{Chunk: 2}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return gretriever.New(k, gretriever.Options{Common: c})
		}},
		{Name: zeroshot.Name, Source: "the model alone", New: func(k kit.Kit, _ kit.Common) (*kit.System, error) { return zeroshot.New(k) }, Blind: true},
	}
}

// lightRAG is LightRAG in one of its modes.
func lightRAG(mode lightrag.Mode) System {
	name := lightrag.Name
	if mode != lightrag.Hybrid {
		name += "-" + string(mode)
	}
	return System{Name: name, Source: "Guo and others 2024", Calls: Calls{Chunk: 1, Question: 1}, New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
		return lightrag.New(k, lightrag.Options{Common: c, Mode: mode})
	}}
}

// Variants are systems with a part left out, for tables of ablations: they run only when
// they are named.
func Variants() []System {
	return []System{
		{Name: youtu.Name + "-nocommunity", Source: "Dong and others 2025", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return youtu.New(k, youtu.Options{Common: c, NoCommunities: true})
		}},
		{Name: youtu.Name + "-noschema", Source: "Dong and others 2025", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return youtu.New(k, youtu.Options{Common: c, NoSchema: true})
		}},
	}
}

// Names are all names of all systems and variants, in the order of reports.
func Names() (names []string) {
	for _, s := range append(Systems(), Variants()...) {
		names = append(append(names, s.Name), s.Also...)
	}
	return names
}

// Find returns the system of a name.
func Find(name string) (System, bool) {
	for _, s := range append(Systems(), Variants()...) {
		if s.Is(name) {
			return s, true
		}
	}
	return System{}, false
}
