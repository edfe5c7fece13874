// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/internal/check"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// limited is a system that is asked with a condition and under a scope.
type limited struct {
	graphrag.System
	where, scope string
}

func (l limited) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	if l.where != "" {
		c, err := graphrag.ParseCondition(l.where)
		if err != nil {
			return graphrag.Answer{}, err
		}
		q.Where = &c
	}
	if l.scope != "" {
		c, err := graphrag.ParseCondition(l.scope)
		if err != nil {
			return graphrag.Answer{}, err
		}
		ctx = graphrag.WithScope(ctx, c)
	}
	return l.System.Answer(ctx, q)
}

// sees compares answers with a condition and under a scope with those of a system over the
// permitted documents alone, and looks for a word that the other documents have.
func (make maker) sees(t *testing.T) {
	var pages []graphrag.Document
	for i, p := range baselinestest.Pages {
		p.Text += fmt.Sprintf(" The %s is kept in the vault of Larvik.", canary(i))
		p.Fields = graphrag.Fields{"team": string(rune('a' + i%2)), "year": float64(2019 + i), "tags": []string{"all", p.Title}}
		if i == 4 {
			delete(p.Fields, "team")
		}
		pages = append(pages, p)
	}
	for _, tt := range []struct {
		where, scope string
		seen         []int
	}{
		{`team = "a"`, "", []int{0, 2}},
		{"", `team = "b"`, []int{1, 3}},
		{`year >= 2020 and not (tags has "Tides")`, `team in ("a", "b")`, []int{1, 2, 3}},
		{`not (team = "a")`, "", []int{1, 3, 4}},
		{`year = 1900`, "", nil},
		{`team = "a"`, `team = "b"`, nil},
		{`year > 0`, "", []int{0, 1, 2, 3, 4}},
	} {
		permitted := []graphrag.Document{}
		for _, i := range tt.seen {
			permitted = append(permitted, pages[i])
		}
		obedient := func() kit.Kit {
			return baselinestest.ModelKit(t, llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient))
		}
		for name, k := range map[string]func() kit.Kit{"offline": func() kit.Kit { return baselinestest.OfflineKit(t) }, "model": obedient} {
			if name == "model" && tt.seen != nil && tt.seen[0] == 1 {
				continue // two conditions are enough of what takes longer
			}
			s := limited{make.over(t, k(), pages...), tt.where, tt.scope}
			if _, err := s.Answer(t.Context(), baselinestest.Questions[0]); err != nil { // the view is built
				t.Fatal(err)
			}
			got, want := answers(t, s), answers(t, make.over(t, k(), permitted...))
			check.Equal(t, cmp.Diff(want, got, cmpopts.IgnoreFields(graphrag.Found{}, "Usage")), "",
				"%s, where %s, scope %s (-over the permitted +limited):\n", name, tt.where, tt.scope)
			for i := range pages {
				check.True(t, !strings.Contains(fmt.Sprintf("%+v", got), canary(i)) || slices.Contains(tt.seen, i),
					"%s, where %s, scope %s: an answer has words of %s", name, tt.where, tt.scope, pages[i].ID)
			}
		}
	}
}

func canary(i int) string { return fmt.Sprintf("Zorgblat%c", 'A'+i) }
