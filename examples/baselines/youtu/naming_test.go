// SPDX-License-Identifier: Apache-2.0

package youtu_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

var groupID = regexp.MustCompile(`(?m)^id: (\d+)$`)

// The paper names all communities of a data set with no more than 10,000 tokens:
// prompts as they are sent, replies of 30 tokens for each.
func TestTokensOfNames(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	model := llmtest.NewScript("names").Handle(llmtest.Stage(perception.Stage), func(req llm.Request) llm.Reply {
		var names []string
		for _, id := range groupID.FindAllStringSubmatch(req.Messages[len(req.Messages)-1].Text, -1) {
			names = append(names, fmt.Sprintf(`{"id":%s,"name":"Towns and rivers","summary":"Towns that lie on the river, and who governed them."}`, id[1]))
		}
		return llm.Reply{Text: `{"communities":[` + strings.Join(names, ",") + `]}`}
	})
	k, err := kit.ByModel(kit.ModelOptions{Model: model})
	if err != nil {
		t.Fatal(err)
	}
	s, err := youtu.New(k, youtu.Options{Common: kit.Common{Cut: kit.Cut{KeepLinks: true}}, Extract: m.Triples})
	if err != nil {
		t.Fatal(err)
	}
	index, err := s.Index(t.Context(), graphrag.Documents(m.Docs...))
	if err != nil {
		t.Fatal(err)
	}
	named, prompts := 0, 0
	for _, req := range model.Requests() {
		prompts += k.Count(string(req.Schema))
		for _, message := range req.Messages {
			prompts += k.Count(message.Text)
		}
		named += len(groupID.FindAllString(req.Messages[1].Text, -1))
	}
	t.Logf("%d calls, %d communities, %d tokens of prompts and %d of replies; stages %+v", model.Calls(), named, prompts, 30*named, index.Stages)
	if total := prompts + 30*named; total >= 10_000 || named < 20 {
		t.Errorf("%d communities are named with %d tokens", named, total)
	}
}
