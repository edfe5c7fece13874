// SPDX-License-Identifier: Apache-2.0

package prompts_test

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

func TestReplace(t *testing.T) {
	p := prompts.Must("parts", promptFiles(map[string]string{
		"sum.txt": "{{/* Words: how many */ -}}\nWrite {{.Words}} words. {{if .Short}}Be brief.{{end}}", "sum_user.txt": "{{range .Pieces}}{{.}}{{end}}", "other.txt": "Other.",
	}))
	prompts.Must("judge-x", promptFiles(map[string]string{"a.txt": "Judge."}))
	ask := func(r, inner *prompts.Replacement, name string) string {
		t.Helper()
		req, err := p.Request(inner.With(r.With(t.Context())), "s", name, map[string]any{"Words": 7, "Short": true}, prompts.Data{Label: "x", Text: "the text"})
		check.OK(t, err)
		var all []string
		for _, m := range req.Messages {
			all = append(all, m.Text)
		}
		return strings.Join(all, "|")
	}
	own := check.Of(prompts.Replace(map[string]string{"parts/sum": " In {{.Words}} words, {{.Nonce}}:\n", "parts/sum_user": "See {{.Data}}"})).OK(t)
	inner := check.Of(prompts.Replace(map[string]string{"parts/sum": "Inner."})).OK(t)
	got := ask(nil, nil, "sum")
	check.True(t, strings.HasPrefix(got, "Write 7 words. Be brief.|["), "ours: %s", got)
	got = ask(own, nil, "sum")
	check.True(t, strings.HasPrefix(got, "In 7 words, ") && strings.Contains(got, "|See ["), "own: %s", got)
	got = ask(own, inner, "sum")
	check.True(t, strings.HasPrefix(got, "Inner.|See ["), "an inner one: %s", got)
	got = ask(own, nil, "other")
	check.True(t, strings.HasPrefix(got, "Other.|"), "another prompt: %s", got)
	sums := own.Sums()
	check.True(t, len(sums) == 2 && len(sums["parts/sum"]) == 8 && sums["parts/sum"] != inner.Sums()["parts/sum"], "sums %v", sums)
	for name, bad := range map[string]struct{ text, want string }{
		"parts/none":     {"x", "there is none; there are "},
		"parts/sum":      {"{{.Wrods}}", "there is no {{.Wrods}}; there are Data, Nonce, Pieces, Short, Words"},
		"parts/sum_user": {"Nothing.", "it does not show the data"},
		"parts/other":    {"{{.Open", "unclosed action"},
		"judge-x/a":      {"Be kind.", "part of what figures mean"},
	} {
		if _, err := prompts.Replace(map[string]string{name: bad.text}); err == nil || !strings.Contains(err.Error(), "prompt "+name+": ") || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v, want %s", name, err, bad.want)
		}
	}
	for _, text := range []string{"", " \n", "\xff", strings.Repeat("x", 70_000)} {
		check.Fails(t, check.Err(prompts.Replace(map[string]string{"parts/other": text})), "1 to 65536 bytes", "%.9q", text)
	}
}
