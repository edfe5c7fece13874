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
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/examples/baselines/zeroshot"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// System is a published system.
type System struct {
	Name string
	// Source is who published it.
	Source string
	// New makes it of a kit, with the settings of its paper.
	New func(k kit.Kit, c kit.Common) (*kit.System, error)
	Cost
	// Also are other names of it: where a published system is another one in all
	// that it does, they are one, with one row in reports.
	Also []string
}

// Is tells whether the system has this name, or has it also.
func (s System) Is(name string) bool { return s.Name == name || slices.Contains(s.Also, name) }

// Cost is what a system takes of models.
type Cost struct {
	// NeedsModel tells that it does not run without one.
	NeedsModel bool
	// Retrieves tells that answers are made of evidence, Embeds that chunks are
	// embedded, where there is an encoder.
	Retrieves, Embeds bool
	// PerChunk and PerQuestion are the calls of a model beside the answer, at most
	// on average, with a kit that indexes or answers by one.
	PerChunk, PerQuestion int
}

// Systems lists them in the order of reports.
func Systems() []System {
	return []System{
		{Name: naiverag.Name, Source: "Lewis and others 2020", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return naiverag.New(k, naiverag.Options{Common: c})
		}, Cost: flat(true), Also: []string{lightrag.Name + "-" + string(lightrag.Naive)}},
		{Name: bm25.Name, Source: "Robertson and Zaragoza 2009", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return bm25.New(k, bm25.Options{Common: c})
		}, Cost: flat(false)},
		{Name: fastgraphrag.Name, Source: "Circlemind 2024", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return fastgraphrag.New(k, fastgraphrag.Options{Common: c})
		}, Cost: graph(1, 1)},
		{Name: msgraphrag.NameLocal, Source: "Edge and others 2024", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return msgraphrag.NewLocal(k, msgraphrag.LocalOptions{Options: msgraphrag.Options{Common: c}})
		}, Cost: graph(2, 0)},
		{Name: msgraphrag.NameGlobal, Source: "Edge and others 2024", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Options: msgraphrag.Options{Common: c}})
		}, Cost: graph(2, 1)},
		{Name: msgraphrag.NameDynamic, Source: "Edge and others 2024", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Options: msgraphrag.Options{Common: c}, Dynamic: true})
		}, Cost: graph(2, ratedReports)},
		{Name: msgraphrag.NameDrift, Source: "Edge and others 2024", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return msgraphrag.NewDrift(k, msgraphrag.DriftOptions{Options: msgraphrag.Options{Common: c}})
		}, Cost: graph(2, 1+msgraphrag.DefaultFolds+msgraphrag.DefaultDepth*msgraphrag.DefaultFollowUps)},
		lightRAG(lightrag.Hybrid, graph(1, 1)),
		lightRAG(lightrag.Local, graph(1, 1)),
		lightRAG(lightrag.Global, graph(1, 1)),
		lightRAG(lightrag.Mix, graph(1, 1)),
		{Name: hipporag.Name, Source: "Gutiérrez and others 2024", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return hipporag.New(k, hipporag.Options{Common: c})
		}, Cost: graph(2, 1)},
		{Name: ircot.Name, Source: "Trivedi and others 2023", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return ircot.New(k, ircot.Options{Options: hipporag.Options{Common: c}})
		}, Cost: graph(2, 2*ircot.DefaultSteps-1)}, // names at each step, thoughts between them
		{Name: hipporag2.Name, Source: "Gutiérrez and others 2025", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return hipporag2.New(k, hipporag2.Options{Common: c})
		}, Cost: graph(2, 1)},
		{Name: linearrag.Name, Source: "Zhuang and others 2025", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return linearrag.New(k, linearrag.Options{Common: c})
		}, Cost: graph(0, 0)},
		{Name: youtu.Name, Source: "Dong and others 2025", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return youtu.New(k, youtu.Options{Common: c})
		}, Cost: graph(2, 1+1+agent.DefaultSteps)},
		{Name: youtu.NameNoAgent, Source: "Dong and others 2025", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return youtu.New(k, youtu.Options{Common: c, NoAgent: true})
		}, Cost: graph(2, 1)},
		{Name: gear.Name, Source: "Shen and others 2025", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return gear.New(k, gear.Options{Common: c})
		}, Cost: graph(2, gearCalls(gear.DefaultSteps, 1))},
		{Name: gear.NameOriginal, Source: "Shen and others 2024", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return gear.New(k, gear.Options{Common: c, Original: true})
		}, Cost: graph(2, gearCalls(gear.DefaultOriginalSteps, gear.DefaultOriginalSteps))},
		{Name: raptor.Name, Source: "Sarthi and others 2024", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return raptor.New(k, raptor.Options{Common: c})
		}, Cost: graph(3, 0)},
		{Name: e2graphrag.Name, Source: "Zhao and others 2025", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return e2graphrag.New(k, e2graphrag.Options{Common: c})
		}, Cost: graph(1, 0)},
		{Name: gretriever.Name, Source: "He and others 2024", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return gretriever.New(k, gretriever.Options{Common: c})
		}, Cost: graph(2, 0)},
		{Name: zeroshot.Name, Source: "", New: func(k kit.Kit, _ kit.Common) (*kit.System, error) { return zeroshot.New(k) }, Cost: Cost{NeedsModel: true}},
	}
}

// gearCalls are those of so many steps, of which some use the graph: each reads
// once, and once more what the graph brought, all but the last are reflected on, and
// the passages are filtered once.
func gearCalls(steps, expanded int) int { return steps + expanded + (steps - 1) + 1 }

// ratedReports stands for a call for each report that dynamic selection looks at:
// those of the top level, a fifth of all, and of the parts of those that are kept.
const ratedReports = 500

func flat(embeds bool) Cost { return Cost{Retrieves: true, Embeds: embeds} }

func graph(perChunk, perQuestion int) Cost {
	return Cost{Retrieves: true, Embeds: true, PerChunk: perChunk, PerQuestion: perQuestion}
}

// lightRAG is LightRAG in one of its modes.
func lightRAG(mode lightrag.Mode, cost Cost) System {
	name := lightrag.Name
	if mode != lightrag.Hybrid {
		name += "-" + string(mode)
	}
	return System{Name: name, Source: "Guo and others 2024", New: func(k kit.Kit, c kit.Common) (*kit.System, error) {
		return lightrag.New(k, lightrag.Options{Common: c, Mode: mode})
	}, Cost: cost}
}

// Names are all names of all systems, in the order of reports.
func Names() (names []string) {
	for _, s := range Systems() {
		names = append(append(names, s.Name), s.Also...)
	}
	return names
}

// Find returns the system of a name.
func Find(name string) (System, bool) {
	for _, s := range Systems() {
		if s.Is(name) {
			return s, true
		}
	}
	return System{}, false
}
