// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// topic is the subject of a sentence, to which the pronouns of the next sentence refer, in
// English. An empty part is unknown: a pronoun for it refers to nothing.
type topic struct {
	thing, person string // the topics that "it" and "they", and "he" and "she" refer to
	shown         string // the sentence or heading that names it, and those between
	from          int    // where these begin, -1 for a heading
	links         int    // sentences since it was named
}

// maxLinks is the number of sentences between a pronoun and the subject it refers to.
const maxLinks = 2

// Patterns for the parts of a sentence. The subject ends before an auxiliary verb, a preposition,
// a relative pronoun, a word with the ending of a verb, a comma or a parenthesis.
const auxiliary = `(?:is|are|was|were|has|had|have|can|could|will|would|may|might|must|should|does|did|became)`

var (
	adverbial = `(?:In|On|At|After|Before|Since|From|By|During|Until|While|When|For|As|With)`
	standIn   = regexp.MustCompile(`^(?:` + adverbial + `(?: \S+){0,7}?(?:,| \d+) |(?:Then|Later|Since then) )?([Ii]t|[Hh]e|[Ss]he|[Tt]hey)\b|^(?:This|These) ` + auxiliary + `\b`)
	subject   = regexp.MustCompile(`^((?:(?:The|An?|Its|Their|His|Her) )?\S+?(?: \S+?){0,6}?)(?: (` + auxiliary + `) | (?:that|which|who|whose|where|when|in|on|at|by|from|to|with|near|under|between|into|as) | \p{Ll}{2,}(?:s|ed) |,| \()`)
	starts    = regexp.MustCompile(`^\d*` + adverbial + `\b`)
	fullName  = regexp.MustCompile(`\p{Lu}[\p{L}.’'-]*(?: (?:de |van |von )?\p{Lu}[\p{L}’'-]*)+`)
	nameForm  = regexp.MustCompile(` \p{Lu}`)
	owned     = regexp.MustCompile(`^(?:Its|Their|His|Her) `)

	// In "it is clear that", "it was in 1995 that" and "it takes" the pronoun refers to nothing.
	expletive = regexp.MustCompile(`\b[Ii]t (?:(?:is|was|has been|seem\w*|appear\w*|t[ao]kes?)\b(?: [\w-]+){0,4} (?:that|whether|as if)\b|(?:is|was) (?:not |un)?(?:clear|important|possible|likely|necessary|true|hard|easy|difficult|time)\b|(?:takes|took)\b)`)
)

// pronoun returns the pronoun that is the subject of a sentence, "" if there is none.
func pronoun(sentence string) string {
	m := standIn.FindStringSubmatch(sentence)
	if m == nil || expletive.MatchString(sentence) {
		return ""
	}
	return strings.ToLower(cmp.Or(m[1], "it"))
}

// newTopic is the topic of a sentence whose subject is no pronoun.
func newTopic(sentence string, from int) topic {
	m := subject.FindStringSubmatch(sentence)
	untold := m != nil && m[2] == "" && !strings.Contains(m[1], " ")                                                  // "Old walls lean" has the ending too early
	if m == nil || untold || starts.MatchString(sentence) || !strings.ContainsAny(sentence[len(sentence)-1:], ".!") { // or a caption
		return topic{}
	}
	t := topic{thing: m[1], shown: sentence, from: from}
	names := fullName.FindAllString(strings.TrimPrefix(sentence, "The "), 2)
	switch named := nameForm.MatchString(m[1]); {
	case len(names) == 1:
		t.person = names[0]
	case len(names) == 0 && named:
		t.person = t.thing
	case !named && owned.MatchString(sentence):
		return topic{} // "Its water is brown. It": the water, or the lake
	}
	if len(names) > 0 && strings.HasPrefix(sentence, names[0]) && m[2] == "" {
		t.thing = "" // "Edmund Carrick drew a bridge. It"
	}
	return t
}

// next returns the topic after a sentence, and what the pronoun that is its subject refers to.
func (t topic) next(sentence string, from int) (after topic, stands string) {
	p := pronoun(sentence)
	if p == "" {
		return newTopic(sentence, from), ""
	}
	if stands = t.thing; p == "he" || p == "she" {
		stands = t.person
	}
	if stands == "" || t.links == maxLinks {
		return topic{}, ""
	}
	after = topic{thing: t.thing, person: t.person, shown: t.shown + " " + sentence, from: t.from, links: t.links + 1}
	if t.from < 0 {
		after.shown, after.from = sentence, from
	}
	if names := fullName.FindAllString(sentence, 2); stands == t.thing && len(names) == 1 {
		after.person = names[0]
	}
	return after, stands
}

// opens makes a short heading the topic of the sentence below it.
func (r *blockReader) opens(b load.Block) {
	if plain := load.Plain(b.Text); (b.End > r.lead || r.titled) && countWords(plain) <= maxOuter && !isQuestion(plain) {
		r.topic = topic{thing: plain, person: plain, shown: plain, from: -1}
	}
}

// refer notes what the pronoun of a sentence refers to, and what the sentence speaks of.
func (r *blockReader) refer(x *quotation, sentence string, from int) {
	before, stands := r.topic, ""
	if r.topic, stands = before.next(sentence, from); x != nil && stands != "" {
		x.stands, x.before, x.from = r.known.terms(stands), before.shown, before.from
	}
}
