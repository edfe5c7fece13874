// SPDX-License-Identifier: Apache-2.0

// Package all is the registry of the systems under examples/baselines.
package all

import (
	"github.com/wildgraph/wildgraph/examples/baselines/bm25"
	"github.com/wildgraph/wildgraph/examples/baselines/fastgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/baselines/linearrag"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/naiverag"
	"github.com/wildgraph/wildgraph/examples/baselines/zeroshot"
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
}

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
		{naiverag.Name, "Lewis and others 2020", func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return naiverag.New(k, naiverag.Options{Common: c})
		}, flat(true)},
		{bm25.Name, "Robertson and Zaragoza 2009", func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return bm25.New(k, bm25.Options{Common: c})
		}, flat(false)},
		{fastgraphrag.Name, "Circlemind 2024", func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return fastgraphrag.New(k, fastgraphrag.Options{Common: c})
		}, graph(1, 1)},
		{msgraphrag.NameLocal, "Edge and others 2024", func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return msgraphrag.NewLocal(k, msgraphrag.LocalOptions{Options: msgraphrag.Options{Common: c}})
		}, graph(2, 0)},
		{msgraphrag.NameGlobal, "Edge and others 2024", func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Options: msgraphrag.Options{Common: c}})
		}, graph(2, 1)},
		lightRAG(lightrag.Hybrid, graph(1, 1)),
		lightRAG(lightrag.Naive, flat(true)),
		lightRAG(lightrag.Local, graph(1, 1)),
		lightRAG(lightrag.Global, graph(1, 1)),
		lightRAG(lightrag.Mix, graph(1, 1)),
		{hipporag.Name, "Gutiérrez and others 2024", func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return hipporag.New(k, hipporag.Options{Common: c})
		}, graph(2, 1)},
		{hipporag2.Name, "Gutiérrez and others 2025", func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return hipporag2.New(k, hipporag2.Options{Common: c})
		}, graph(2, 1)},
		{linearrag.Name, "Zhuang and others 2025", func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return linearrag.New(k, linearrag.Options{Common: c})
		}, graph(0, 0)},
		{zeroshot.Name, "", func(k kit.Kit, _ kit.Common) (*kit.System, error) { return zeroshot.New(k) }, Cost{NeedsModel: true}},
	}
}

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
	return System{name, "Guo and others 2024", func(k kit.Kit, c kit.Common) (*kit.System, error) {
		return lightrag.New(k, lightrag.Options{Common: c, Mode: mode})
	}, cost}
}

// Find returns the system of a name.
func Find(name string) (System, bool) {
	for _, s := range Systems() {
		if s.Name == name {
			return s, true
		}
	}
	return System{}, false
}
