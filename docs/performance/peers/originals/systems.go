package main

import (
	"slices"

	"github.com/wildgraph/wildgraph/examples/baselines/fastgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// systems are those that follow a program, with the settings that make them most like it.
var systems = map[string]func(kit.Kit, []string) (*kit.System, error){
	"lightrag": func(k kit.Kit, set []string) (*kit.System, error) {
		o := lightrag.Options{AlwaysGlean: true}
		if len(set) > 0 {
			o.Mode = lightrag.Mode(set[0])
		}
		return lightrag.New(k, o)
	},
	"fastgraphrag": func(k kit.Kit, _ []string) (*kit.System, error) {
		return fastgraphrag.New(k, fastgraphrag.Options{Types: []string{"Other", "Person", "Place"}})
	},
	"msgraphrag": func(k kit.Kit, _ []string) (*kit.System, error) {
		o := msgraphrag.Options{AlwaysGlean: true, FoldFrom: 2, AllReports: true}
		return msgraphrag.NewLocal(k, msgraphrag.LocalOptions{Options: o})
	},
	"hipporag2": func(k kit.Kit, set []string) (*kit.System, error) {
		o := hipporag2.Options{}
		if slices.Contains(set, "program") {
			o = hipporag2.Options{Phrases: hipporag2.Mean, ASCIIPhrases: true, Overwrite: true}
		}
		return hipporag2.New(k, o)
	},
}
