// SPDX-License-Identifier: Apache-2.0

// Package all is the registry of the systems under examples/baselines.
package all

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/agentic"
	"github.com/wildgraph/wildgraph/examples/baselines/e2graphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/fastgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/examples/baselines/gretriever"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/ircot"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/baselines/linearrag"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/raptor"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm"
)

// System is a published system, or one of our own.
type System struct {
	Name string
	// Source is who published it; "" is nobody.
	Source string
	// Blind tells that it reads no documents, and so does not run without a model.
	Blind bool
	// Words tells that it compares texts by words alone, whatever embedder the kit has.
	Words bool
	// Agent tells that a model decides what it reads, so that it does not run without one.
	Agent bool
	// Graph tells that it goes by a graph from elsewhere, its option "graph", and does not
	// run without one.
	Graph bool
	// Unbound tells that a schema is left out, and that it is the whole system where that has
	// none: without a model that indexes.
	Unbound bool
	// Calls are the calls of a model that it makes, see [Calls].
	Calls Calls
	// Also are other names of it: where a published system is another one in all
	// that it does, they are one, with one row in reports.
	Also []string

	options any // the Options of its package, with which a run begins
	agent   any // a looped of an agent around it
	changes []change
	graph   *triples.Index
	models  func(name string) (llm.Model, error)
	make    func(k kit.Kit, options ...any) (*kit.System, error)
}

// Calls counts the calls of a model over pages of one chunk each that have no name in
// common: to index one chunk, to search for one question (before it is answered), and
// once for the corpus. Reports are one a chunk there. What depends on the number of
// chunks otherwise is counted for the 19 pages of the sample's seafaring.
type Calls struct{ Chunk, Question, Once int }

// Is tells whether the system has this name, or has it also.
func (s System) Is(name string) bool { return s.Name == name || slices.Contains(s.Also, name) }

// of is a system of a package's options and constructor. Calls are none, unless they are
// given: a chunk, a question, and once.
func of[O any](name, source string, o O, make func(kit.Kit, O) (*kit.System, error), calls ...int) System {
	s := System{Name: name, Source: source, options: o}
	s.make = func(k kit.Kit, o ...any) (*kit.System, error) { return make(k, o[0].(O)) }
	if len(calls) > 0 {
		s.Calls = Calls{Chunk: calls[0], Question: calls[1], Once: calls[2]}
	}
	return s
}

// Systems lists them in the order of reports.
func Systems() []System {
	const (
		edge, dong = "Edge and others 2024", "Dong and others 2025"
	)
	naive := of(flat.NaiveRAG, "Lewis and others 2020", flat.NaiveOptions{}, flat.NewNaiveRAG)
	naive.Also = []string{lightrag.Name + "-naive"}
	blind := of(flat.ZeroShot, "the model alone", struct{ kit.Common }{}, func(k kit.Kit, _ struct{ kit.Common }) (*kit.System, error) { return flat.NewZeroShot(k) })
	blind.Blind = true
	words := of(flat.BM25, "Robertson and Zaragoza 2009", flat.BM25Options{}, flat.NewBM25)
	words.Words = true
	linked := of(gear.Name, "Shen and others 2025", gear.Options{}, gear.New, 0, 3, 0) // read, reflect, filter
	linked.Graph = true
	return []System{
		naive,
		words,
		of(wild.Name, "", wild.Options{}, wild.New),
		of(fastgraphrag.Name, "Circlemind 2024", fastgraphrag.Options{}, fastgraphrag.New, 1, 1, 0),                 // no gleaning; entities of the question
		of(msgraphrag.NameLocal, edge, msgraphrag.LocalOptions{}, msgraphrag.NewLocal, 2, 0, 0),                     // a graph and a report
		of(msgraphrag.NameGlobal, edge, msgraphrag.GlobalOptions{}, msgraphrag.NewGlobal, 2, 1, 0),                  // one batch of reports
		of(msgraphrag.NameDynamic, edge, msgraphrag.GlobalOptions{Dynamic: true}, msgraphrag.NewGlobal, 2, 19+1, 0), // a rating of each report
		of(msgraphrag.NameDrift, edge, msgraphrag.DriftOptions{}, msgraphrag.NewDrift, 2, 1+5+5, 0),                 // a hypothetical answer, folds of reports, a follow-up of each
		lightRAG(lightrag.Hybrid),
		lightRAG(lightrag.Local),
		lightRAG(lightrag.Global),
		lightRAG(lightrag.Mix),
		of(hipporag.Name, "Gutiérrez and others 2024", hipporag.Options{}, hipporag.New, 2, 1, 0),    // names, triples; names of the question
		of(ircot.Name, "Trivedi and others 2023", ircot.Options{}, ircot.New, 2, 2+2, 0),             // names of the question and of a thought, which is repeated
		of(hipporag2.Name, "Gutiérrez and others 2025", hipporag2.Options{}, hipporag2.New, 2, 1, 0), // names, triples; the filter
		of(linearrag.Name, "Zhuang and others 2025", linearrag.Options{}, linearrag.New),
		of(youtu.Name, dong, youtu.Options{}, youtu.New, 1, 3, 2), // decompose, draft, one reflection; a schema, a batch of names
		of(youtu.NameNoAgent, dong, youtu.Options{NoAgent: true}, youtu.New, 1, 1, 2),
		linked,
		of(gear.NameCorpus, "Shen and others 2025", gear.Options{}, gear.New, 2, 3, 0), // names, triples; read, reflect, filter
		of(gear.NameOriginal, "Shen and others 2024", gear.Options{Original: true}, gear.New, 2, 3, 0),
		of(raptor.Name, "Sarthi and others 2024", raptor.Options{}, raptor.New, 0, 0, 18), // summaries, one for ten leaves
		of(e2graphrag.Name, "Zhao and others 2025", e2graphrag.Options{}, e2graphrag.New),
		of(gretriever.Name, "He and others 2024", gretriever.Options{}, gretriever.New, 2, 0, 0),
		blind,
	}
}

// lightRAG is LightRAG in one of its modes.
func lightRAG(mode lightrag.Mode) System {
	name := lightrag.Name
	if mode != lightrag.Hybrid {
		name += "-" + string(mode)
	}
	return of(name, "Guo and others 2024", lightrag.Options{Mode: mode}, lightrag.New, 1, 1, 0)
}

// Variants are systems with a part left out, for tables of ablations: they run only when
// they are named.
func Variants() []System {
	unbound := of(youtu.Name+"-noschema", "Dong and others 2025", youtu.Options{NoSchema: true}, youtu.New)
	unbound.Unbound = true
	return []System{
		of(youtu.Name+"-nocommunity", "Dong and others 2025", youtu.Options{NoCommunities: true}, youtu.New),
		unbound,
	}
}

// looped are the options of an agent around a system.
type looped struct{ Agent agentic.Loop }

// Agents are systems in the hands of an agent, under "agentic:" and their name, and those
// that read pages as they are: "files" and "context". They run only when they are named,
// because they read more often, or more, than all others.
func Agents() []System {
	files := of(agentic.NameFiles, "", agentic.Options{}, agentic.NewFiles, 0, 2, 0)
	files.Agent = true
	out := []System{files, of(agentic.NameContext, "", agentic.ContextOptions{}, agentic.NewContext)}
	for _, s := range Systems() {
		if s.Blind {
			continue
		}
		make := s.make
		s.agent = looped{}
		s.make = func(k kit.Kit, options ...any) (*kit.System, error) {
			inner, err := make(k, options[0])
			if err != nil {
				return nil, fmt.Errorf("%s%w", agentic.Prefix, err)
			}
			return agentic.Around(inner, options[1].(looped).Agent)
		}
		s.Name, s.Also, s.Agent = agentic.Prefix+s.Name, nil, true
		s.Calls.Question += 2 // a turn that searches, and one that ends
		out = append(out, s)
	}
	return out
}

// all are the systems, variants and agents.
func all() []System { return slices.Concat(Systems(), Variants(), Agents()) }

// Names are all names of all systems, variants and agents, in the order of reports.
func Names() (names []string) {
	for _, s := range all() {
		names = append(append(names, s.Name), s.Also...)
	}
	return names
}

// Shown lists names for people, those of agents by their prefix.
func Shown(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.HasPrefix(n, agentic.Prefix) })
	return strings.Join(names, ", ") + "; and " + agentic.Prefix + "NAME, an agent that searches by it"
}

// Find returns the system of a name.
func Find(name string) (System, bool) {
	for _, s := range all() {
		if s.Is(name) {
			return s, true
		}
	}
	return System{}, false
}
