// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Every system keeps what all promise, with one agent of each kind and the options that search in
// another way; a model stands behind those that do not run without one.
func TestConform(t *testing.T) {
	made := systems(t)
	for _, name := range []string{"agentic:bm25", "files", "context"} {
		made = append(made, system(t, name))
	}
	for _, changed := range []struct{ name, option string }{{"raptor", "traverse"}, {"lightrag", "paper"}} {
		s, err := system(t, changed.name).With(changed.option, "true")
		baselinestest.OK(t, err)
		made = append(made, s)
	}
	for _, s := range made {
		t.Run(strings.ReplaceAll(s.Name, ":", "-"), func(t *testing.T) { conforms(t, s) })
	}
}

func conforms(t *testing.T, s all.System) {
	maker := func(k kit.Kit) (*kit.System, error) {
		if (s.Blind || s.Agent) && k.AnswerModel == nil && k.Count != nil {
			k.AnswerModel = llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
		}
		x, err := s.New(k, kit.Common{})
		if err == nil && x.Name() != s.Name {
			t.Errorf("the name is %q", x.Name())
		}
		return x, err
	}
	baselinestest.Conform(t, maker)
	if !s.Words && !s.Blind && !s.Agent && !s.Graph && s.Name != "wild" && s.Name != "context" { // wild compares by vectors what words found
		baselinestest.Vectors(t, maker)
	}
}
