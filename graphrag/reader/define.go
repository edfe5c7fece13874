// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// asksWhat is an English question for what or who something is, by its name of at most four
// words. One that relates it to something else ("What is the colour of owls?") asks for a
// property.
var (
	asksWhat = regexp.MustCompile(`(?i)^\W*(what|who)(?:\s+(?:is|are|was|were)|['’]s)\s+(?:(?:an?|(the))\s+)?([^\s?]{1,99}(?:\s+[^\s?]{1,99}){0,3})[\s?.!]*$`)
	relating = regexp.MustCompile(`(?i)\b(?:the|of|in|on|at|for|to|by|with|from|than|that|which|this|these|those|there|it|he|she|they|my|your|our|his|her|its|their|not)\b|['’]s\b`)
)

// definition returns what matches a text that defines what a question asks for, nil if it asks
// for something else: "Leiden is", "The Leiden algorithm was", "Edmund Carrick (1829–1894), an",
// "Quoin:", "A judge decides", and for a person, or "the X", also "is treasurer".
func definition(question string, language text.Language) *regexp.Regexp {
	m := asksWhat.FindStringSubmatch(question)
	if m == nil || language != text.English || !utf8.ValidString(m[3]) || relating.MatchString(m[3]) {
		return nil
	}
	words := strings.Fields(m[3])
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	name := strings.TrimSuffix(strings.Join(words, `[\s_-]+`), "s") + `(?:e?s)?`
	begins := `^\W*(?:(?:an?|the)\s+)?` + name + `(?:\s*\([^)]*\))?`
	forms := []string{
		begins + `(?:\s+\w+){0,3}(?:\s*\([^)]*\))?(?:,[^,]{0,80},)?\s+(?:is|are|was|were|means|denotes)\b`,
		begins + `\s*(?:[:–—]|\s-)\s+\S`,
		begins + `,\s+(?:an?|the)\s`,
		`^\W*an?\s+` + name + `\s+[a-z]+s\s`, // "A judge decides"
	}
	if strings.EqualFold(m[1], "who") || m[2] != "" {
		forms = append(forms, `\b(?:is|are|was|were)\s+(?:(?:an?|the)\s+)?`+name+`\b`)
	}
	return regexp.MustCompile(`(?i)` + strings.Join(forms, "|"))
}

// defines reports whether a candidate defines what the question asks for. A row of a table
// does not: its first column may be a name in a table of anything.
func (c *corpus) defines(x *candidate) bool {
	return c.q.defined != nil && x.kind != load.Row && x.kind != load.Code && (c.q.defined.MatchString(x.text) || c.q.defined.MatchString(c.shown(x)))
}
