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
	// Source names the authors; "" for a system of our own.
	Source string
	// NoDocuments marks a system that reads no documents. It needs an answering model.
	NoDocuments bool
	// Words marks a system that compares texts by words alone, whatever embedder the kit has.
	Words bool
	// NeedsModel marks a system in which a model decides what is read.
	NeedsModel bool
	// NeedsGraph marks a system that needs a graph from elsewhere, its option "graph".
	NeedsGraph bool
	// NoSchema marks the variant without a schema. Without an indexing model it would equal the
	// base system, and is not run.
	NoSchema bool
	// Calls has the calls of a model that it makes, see [Calls].
	Calls Calls
	// Also lists aliases: published systems with identical behaviour share one row in reports.
	Also []string

	options any // the Options of its package, with which a run begins
	agent   any // the looped of an agent around it
	changes []change
	graph   *triples.Index
	models  func(name string) (llm.Model, error)
	build   func(k kit.Kit, options ...any) (*kit.System, error)
}

// Calls counts the calls of a model to index one chunk, to search for one question (without the answer), and
// once for a corpus, over pages of one chunk each that share no name. On such pages there is one report per
// chunk. Other counts that depend on the corpus are for the 19 pages of the sample's domain seafaring.
type Calls struct{ Chunk, Question, Once int }

// Is reports whether the system has this name or alias.
func (s System) Is(name string) bool { return s.Name == name || slices.Contains(s.Also, name) }

// entry returns the system of a package's options and constructor. calls are the three numbers of
// [Calls], or none.
func entry[O any](name, source string, o O, build func(kit.Kit, O) (*kit.System, error), calls ...int) System {
	s := System{Name: name, Source: source, options: o}
	s.build = func(k kit.Kit, o ...any) (*kit.System, error) { return build(k, o[0].(O)) }
	if len(calls) > 0 {
		s.Calls = Calls{Chunk: calls[0], Question: calls[1], Once: calls[2]}
	}
	return s
}

// Systems lists the systems in the order of reports.
func Systems() []System {
	const (
		edge, dong = "Edge and others 2024", "Dong and others 2025"
	)
	naive := entry(flat.NaiveRAG, "Lewis and others 2020", flat.NaiveOptions{}, flat.NewNaiveRAG)
	naive.Also = []string{lightrag.Name + "-naive"}
	blind := entry(flat.ZeroShot, "the model alone", struct{ kit.Common }{}, func(k kit.Kit, _ struct{ kit.Common }) (*kit.System, error) { return flat.NewZeroShot(k) })
	blind.NoDocuments = true
	words := entry(flat.BM25, "Robertson and Zaragoza 2009", flat.BM25Options{}, flat.NewBM25)
	words.Words = true
	linked := entry(gear.Name, "Shen and others 2025", gear.Options{}, gear.New, 0, 3, 0) // read, reflect, filter
	linked.NeedsGraph = true
	return []System{
		naive,
		words,
		entry(wild.Name, "", wild.Options{}, wild.New),
		entry(fastgraphrag.Name, "Circlemind 2024", fastgraphrag.Options{}, fastgraphrag.New, 1, 1, 0),                 // no gleaning; entities of the question
		entry(msgraphrag.NameLocal, edge, msgraphrag.LocalOptions{}, msgraphrag.NewLocal, 2, 0, 0),                     // a graph and a report
		entry(msgraphrag.NameGlobal, edge, msgraphrag.GlobalOptions{}, msgraphrag.NewGlobal, 2, 1, 0),                  // one batch of reports
		entry(msgraphrag.NameDynamic, edge, msgraphrag.GlobalOptions{Dynamic: true}, msgraphrag.NewGlobal, 2, 19+1, 0), // a rating of each report
		entry(msgraphrag.NameDrift, edge, msgraphrag.DriftOptions{}, msgraphrag.NewDrift, 2, 1+5+5, 0),                 // a hypothetical answer, folds of reports, a follow-up of each
		lightRAG(lightrag.Hybrid),
		lightRAG(lightrag.Local),
		lightRAG(lightrag.Global),
		lightRAG(lightrag.Mix),
		entry(hipporag.Name, "Gutiérrez and others 2024", hipporag.Options{}, hipporag.New, 2, 1, 0),    // names, triples; names of the question
		entry(ircot.Name, "Trivedi and others 2023", ircot.Options{}, ircot.New, 2, 2+2, 0),             // names of the question and of a thought, which is repeated
		entry(hipporag2.Name, "Gutiérrez and others 2025", hipporag2.Options{}, hipporag2.New, 2, 1, 0), // names, triples; the filter
		entry(linearrag.Name, "Zhuang and others 2025", linearrag.Options{}, linearrag.New),
		entry(youtu.Name, dong, youtu.Options{}, youtu.New, 1, 3, 2), // decompose, draft, one reflection; a schema, a batch of names
		entry(youtu.NameNoAgent, dong, youtu.Options{NoAgent: true}, youtu.New, 1, 1, 2),
		linked,
		entry(gear.NameCorpus, "Shen and others 2025", gear.Options{}, gear.New, 2, 3, 0), // names, triples; read, reflect, filter
		entry(gear.NameOriginal, "Shen and others 2024", gear.Options{Original: true}, gear.New, 2, 3, 0),
		entry(raptor.Name, "Sarthi and others 2024", raptor.Options{}, raptor.New, 0, 0, 18), // summaries, one for ten leaves
		entry(e2graphrag.Name, "Zhao and others 2025", e2graphrag.Options{}, e2graphrag.New),
		entry(gretriever.Name, "He and others 2024", gretriever.Options{}, gretriever.New, 2, 0, 0),
		blind,
	}
}

// lightRAG returns LightRAG in a mode.
func lightRAG(mode lightrag.Mode) System {
	name := lightrag.Name
	if mode != lightrag.Hybrid {
		name += "-" + string(mode)
	}
	return entry(name, "Guo and others 2024", lightrag.Options{Mode: mode}, lightrag.New, 1, 1, 0)
}

// Variants lists systems with a part left out, for ablations. They run only if they are named.
func Variants() []System {
	unbound := entry(youtu.Name+"-noschema", "Dong and others 2025", youtu.Options{NoSchema: true}, youtu.New)
	unbound.NoSchema = true
	return []System{
		entry(youtu.Name+"-nocommunity", "Dong and others 2025", youtu.Options{NoCommunities: true}, youtu.New),
		unbound,
	}
}

// looped has the options of an agent around a system.
type looped struct{ Agent agentic.Loop }

// Agents lists the agents around the systems, named "agentic:" and the system, and the systems without
// an index, "files" and "context". They run only if they are named, because they read the most.
func Agents() []System {
	files := entry(agentic.NameFiles, "", agentic.Options{}, agentic.NewFiles, 0, 2, 0)
	files.NeedsModel = true
	out := []System{files, entry(agentic.NameContext, "", agentic.ContextOptions{}, agentic.NewContext)}
	for _, s := range Systems() {
		if s.NoDocuments {
			continue
		}
		build := s.build
		s.agent = looped{}
		s.build = func(k kit.Kit, options ...any) (*kit.System, error) {
			inner, err := build(k, options[0])
			if err != nil {
				return nil, fmt.Errorf("%s%w", agentic.Prefix, err)
			}
			return agentic.Around(inner, options[1].(looped).Agent)
		}
		s.Name, s.Also, s.NeedsModel = agentic.Prefix+s.Name, nil, true
		s.Calls.Question += 2 // a turn that searches, and one that ends
		out = append(out, s)
	}
	return out
}

func all() []System { return slices.Concat(Systems(), Variants(), Agents()) }

// Names lists all names of all systems, variants and agents, in the order of reports.
func Names() (names []string) {
	for _, s := range all() {
		names = append(append(names, s.Name), s.Also...)
	}
	return names
}

// Shown lists names for people. Agents are named by their prefix.
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
