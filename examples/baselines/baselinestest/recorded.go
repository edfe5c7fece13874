// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"slices"
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

// RecordedKind is the kind and the stage of a call with this system message; both
// are empty of one that was not recorded, such as a judge's.
func RecordedKind(system string) (kind, stage string) {
	for _, k := range recordedKinds {
		if strings.Contains(system, k.mark) {
			return k.kind, k.stage
		}
	}
	return "", ""
}

// Recorded answers as a recorded model did to the call of the same kind that is
// most like the one it is asked.
type Recorded map[string][]llmtest.Call

// NewRecorded sorts recorded calls by their kind.
func NewRecorded(calls []llmtest.Call) Recorded {
	r := Recorded{}
	for _, c := range calls {
		kind, _ := RecordedKind(c.System)
		r[kind] = append(r[kind], c)
	}
	return r
}

// Reply is the reply to a request, "" if no call of its kind was recorded.
func (r Recorded) Reply(req llm.Request) string {
	var user []string
	for _, m := range req.Messages {
		if m.Role == llm.User {
			user = append(user, m.Text)
		}
	}
	kind, _ := RecordedKind(req.Messages[0].Text)
	best, reply := -1.0, ""
	subjects := subject(kind, user...)
	for _, c := range r[kind] {
		same, theirs := 0, subject(kind, c.User)
		for _, s := range subjects {
			if slices.Contains(theirs, s) {
				same++
			}
		}
		if like := float64(same) / float64(len(subjects)+len(theirs)); like > best {
			best, reply = like, c.Reply
		}
	}
	return reply
}

// subject is what a call is about: the title of a passage, the thing described,
// the members of a community, or a question, which counts for three, and the pages
// that are read for it. A gleaning has another subject.
func subject(kind string, user ...string) []string {
	c := llmtest.Call{User: user[0]}
	lines := strings.Split(c.Data(), "\n")
	switch kind {
	case "answer", "points":
		asked := strings.LastIndex(user[0], "Question: ")
		return append(pages(user[0]), user[0][asked:], user[0][asked:], user[0][asked:])
	case "report":
		return members(lines)
	}
	if len(user) > 1 || strings.Contains(user[0], "are still missing") {
		return []string{"more of", lines[0]}
	}
	return lines[:1]
}

// pages are the titles of the passages that are read.
func pages(prompt string) (titles []string) {
	for line := range strings.Lines(prompt) {
		if strings.HasPrefix(line, "Page: ") {
			titles = append(titles, line)
		}
	}
	return titles
}

// members are the names in the rows of a report's tables.
func members(lines []string) (names []string) {
	for _, line := range lines {
		if cells := strings.SplitN(line, ",", 3); len(cells) == 3 && cells[0] != "id" && strings.Count(line, ",") > 1 {
			names = append(names, cells[1])
		}
	}
	return names
}
