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

// System is a published system, or one of our own, with its settings.
type System struct {
	kit.Info
	agent   any // the looped of an agent around it
	changes []change
	graph   *triples.Index
	models  func(name string) (llm.Model, error)
	build   func(k kit.Kit, options ...any) (*kit.System, error)
}

// Is reports whether the system has this name or alias.
func (s System) Is(name string) bool { return s.Name == name || slices.Contains(s.Also, name) }

// Systems lists the systems in the order of reports.
func Systems() []System {
	return ofInfos(slices.Concat(
		[]kit.Info{flat.Infos[1], flat.Infos[0], wild.Info, fastgraphrag.Info}, msgraphrag.Infos, lightrag.Infos,
		[]kit.Info{hipporag.Info, hipporag.InfoIRCoT, hipporag2.Info, linearrag.Info}, youtu.Infos, gear.Infos,
		[]kit.Info{raptor.Info, e2graphrag.Info, gretriever.Info, flat.Infos[2]},
	))
}

func ofInfos(infos []kit.Info) (out []System) {
	for _, i := range infos {
		out = append(out, System{Info: i, build: func(k kit.Kit, o ...any) (*kit.System, error) { return i.New(k, o[0]) }})
	}
	return out
}

// Variants lists systems with a part left out, for ablations. They run only if they are named.
func Variants() []System { return ofInfos(youtu.Variants) }

// looped has the options of an agent around a system.
type looped struct{ Agent agentic.Loop }

// Agents lists the agents around the systems, named "agentic:" and the system, and the systems without
// an index, "files" and "context". They run only if they are named, because they read the most.
func Agents() []System {
	out := ofInfos(agentic.Infos)
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
