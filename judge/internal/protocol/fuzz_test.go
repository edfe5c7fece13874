// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Replies of judges, with the verdict after the first request, or none.
func TestReplies(t *testing.T) {
	const seed = "0123456789abcdef"
	scores := NewBatch("s", seed, 1, True, False)
	names := Brief(seed, List{"g", 1, []int{True}}, List{"p", 1, []int{True, False}})
	places := []string{"<number>", names.Code}
	for _, it := range append(scores.Items, names.Items...) {
		places = append(places, "<"+it.ID[:1]+[]string{"", "t", "f"}[-min(it.Index, 0)]+">", it.ID)
	}
	err := journal.EachLine(os.DirFS("testdata"), "replies.jsonl", journal.DefaultMaxLine, func(_ int, x struct {
		Kind, Reply, Want string
		Calls             int
	}) error {
		got, ctx, reply := "", t.Context(), strings.NewReplacer(places...).Replace(x.Reply)
		m := llmtest.NewScript("m").Reply(llmtest.Any, reply)
		e, err := New(m, "test", 1, judge.Options{})
		if err != nil {
			return err
		}
		ask, trace := func([]Item) llm.Request { return llm.Prompt("?") }, &Trace{}
		if x.Kind == "score" {
			var found []judge.Verdict
			found, err = e.Scores(ctx, scores, []string{x.Kind}, trace, ask)
			got = strconv.Itoa(int(found[0].Value))
		} else {
			err = e.Run(ctx, names, []string{x.Kind}, trace, ask, func(it Item, l Line) error {
				found, _, err := it.Named(l["by"], names.Of(map[string]string{"g": "p", "p": "g"}[it.ID[:1]]))
				if !it.Canary() && len(found) > 0 {
					got = strings.TrimSpace(got + " " + it.ID[:1])
				}
				return err
			})
		}
		switch {
		case llm.OfOneReply(err):
			got = "unscored"
		case err != nil:
			got = strings.TrimPrefix(err.Error(), "canary failed: the judge ")
		}
		check.True(t, got == x.Want && m.Calls() == x.Calls, "%s: %q (%v) after %d calls, want %q after %d", reply, got, err, m.Calls(), x.Want, x.Calls)
		return nil
	})
	check.OK(t, err)
}

// FuzzReply reads any reply of a judge: at most one line for each requested id, and every discarded line
// counted.
func FuzzReply(f *testing.F) {
	b := NewBatch("p", "0123456789abcdef", 3, True, False)
	for _, s := range []string{
		`{"results": [{"id": "` + b.Items[0].ID + `", "score": 1}, {"id": "p9", "score": "yes"}]}`,
		`{"results": [{"id": 1, "gold": ["g1", 2, null]}, {"id": null, "statements": ["a"]}]}`, `{"results": {}}`, `[]`, `{"results": [{"id": {"a": 1}, "score": 1e400}]}`, `{"results": [[1]]}`, `{"results": [{}]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		var l replyLines
		if json.Unmarshal([]byte(reply), &l) != nil {
			return
		}
		var p judge.Protocol
		got := uniqueLines(b.Items, l.Results, &p)
		check.Must(t, len(got) <= len(b.Items) && len(got)+p.Extra+p.Duplicate <= len(l.Results), "%d of %d lines kept, %+v", len(got), len(l.Results), p)
		for _, line := range got {
			n, ok := line.Value()
			check.Must(t, !ok || n == 0 || n == 1, "score %d", n)
		}
	})
}
