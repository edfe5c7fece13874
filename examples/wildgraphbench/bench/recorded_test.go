// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"strings"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// recordedKinds tell the calls of systems apart by what their prompts ask for,
// those of now and those that were recorded, with the stage they belong to.
var recordedKinds = []struct{ kind, stage, mark string }{
	{"tuples", "index", `("entity"<|>`},
	{"lines", "index", "entity<|#|>"},
	{"objects", "index", `"other_relationships"`},
	{"triples", "index", `{"triples": [[`},
	{"names", "index", `{"named_entities": [`},
	{"report", "index", `"rating_explanation": `},
	{"describe", "index", "You make one description of several"},
	{"filter", "search", `{"fact": [[`},
	{"keywords", "search", `{"high_level_keywords": [`},
	{"parts", "search", `{"named": [`},
	{"points", "search", `{"points": [{`},
	{"answer", "answer", "You answer questions for people who will check"},
}

// recordedKind is the kind and the stage of a call with this system message; both
// are empty of one that was not recorded, such as a judge's.
func recordedKind(system string) (kind, stage string) {
	for _, k := range recordedKinds {
		if strings.Contains(system, k.mark) {
			return k.kind, k.stage
		}
	}
	return "", ""
}

// replay answers as a recorded model did to the call of the same kind with most words in
// common.
type replay map[string][]recorded

type recorded struct {
	words map[string]bool
	more  bool // a second look at a passage
	reply string
}

func newRecorded(user, reply string) recorded {
	words := make(map[string]bool)
	for _, w := range strings.Fields(user) {
		words[w] = true
	}
	return recorded{words, strings.Contains(user, "are still missing"), reply}
}

// asRecorded sorts recorded calls by their kind.
func asRecorded(calls []llmtest.Call) replay {
	r := replay{}
	for _, c := range calls {
		kind, _ := recordedKind(c.System)
		r[kind] = append(r[kind], newRecorded(c.User, c.Reply))
	}
	return r
}

// Reply is the reply to a request, "" if no call of its kind was recorded.
func (r replay) Reply(req llm.Request) string {
	var asked []string
	for _, m := range req.Messages {
		if m.Role == llm.User {
			asked = append(asked, m.Text)
		}
	}
	kind, _ := recordedKind(req.Messages[0].Text)
	of, best, reply := newRecorded(strings.Join(asked, "\n"), ""), -1.0, ""
	of.more = of.more || len(asked) > 1
	for _, c := range r[kind] {
		same := 0
		for w := range of.words {
			if c.words[w] {
				same++
			}
		}
		if like := float64(same) / float64(len(of.words)+len(c.words)); c.more == of.more && like > best {
			best, reply = like, c.reply
		}
	}
	return reply
}
