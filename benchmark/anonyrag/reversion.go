// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Pair is what an answer says that a placeholder stands for.
type Pair struct {
	// Placeholder is without brackets: PERSON#12.
	Placeholder string `json:"placeholder"`
	Name        string `json:"name"`
}

var (
	anyPlaceholder = regexp.MustCompile(`(?i)[a-z]+#[0-9]+`)
	// entry is a placeholder, in brackets, quotes or bold or not, and what parts it from
	// its name.
	entry = regexp.MustCompile(`(?i)[\[【"'*` + "`" + `]*([a-z]+#[0-9]+)[\]】"'*` + "`" + `]*[ \t]*(?:[—–]+|-+>?|→|:|=+>?|\|)`)
)

// ParseReversion reads the names that an answer gives to placeholders, in their order.
// An entry is a placeholder and its name, with a dash, a colon, an equals sign or an
// arrow between them; it ends with its line, with a semicolon, or where the next entry
// begins. A placeholder without a name is none. Characters are read in their
// compatible forms (NFKC), so full-width signs do as well.
func ParseReversion(answer string) []Pair {
	answer = norm.NFKC.String(answer)
	found := entry.FindAllStringSubmatchIndex(answer, -1)
	var out []Pair
	for i, at := range found {
		end := len(answer)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		name := answer[at[1]:end]
		if cut := strings.IndexAny(name, "\n\r;"); cut >= 0 {
			name = name[:cut]
		}
		if name = trimName(name); name != "" {
			out = append(out, Pair{strings.ToUpper(answer[at[2]:at[3]]), name})
		}
	}
	return out
}

// trimName takes off what surrounds a name.
func trimName(s string) string {
	return strings.Join(strings.Fields(strings.Trim(s, " \t\"'“”‘’*_`|,，、。.{}[]【】")), " ")
}

// Gold are the names that placeholders stand for; the first of each is the one to show.
type Gold map[string][]string

// GoldOf reads the gold of a question: its entries, and further ones with other names
// of the same placeholders.
func GoldOf(reference string, aliases ...string) Gold {
	g := make(Gold)
	for _, text := range append([]string{reference}, aliases...) {
		for _, p := range ParseReversion(text) {
			g[p.Placeholder] = append(g[p.Placeholder], p.Name)
		}
	}
	return g
}

// Counts of placeholders: in the gold, in the answer, and of those that are right.
type Counts struct {
	Gold      int `json:"gold"`
	Predicted int `json:"predicted"`
	Right     int `json:"right"`
}

// Compare counts. The first name of a placeholder counts as said; every further one
// that differs is one more that is wrong. Names are compared without regard to case
// and form, and are right if they are the gold one or one of its aliases.
func Compare(g Gold, answer []Pair) Counts {
	c := Counts{Gold: len(g)}
	said := make(map[string]map[string]bool)
	for _, p := range answer {
		name := fold(p.Name)
		first := said[p.Placeholder] == nil
		if first {
			said[p.Placeholder] = make(map[string]bool)
		}
		if said[p.Placeholder][name] {
			continue
		}
		said[p.Placeholder][name] = true
		c.Predicted++
		if first && g.holds(p.Placeholder, name) {
			c.Right++
		}
	}
	return c
}

// holds tells whether a folded name is one of the placeholder's.
func (g Gold) holds(placeholder, name string) bool {
	for _, want := range g[placeholder] {
		if fold(want) == name {
			return true
		}
	}
	return false
}

// Precision is the share of the answer that is right, 0 of an empty one.
func (c Counts) Precision() float64 { return ratio(c.Right, c.Predicted) }

// Recall is the share of the gold that is met.
func (c Counts) Recall() float64 { return ratio(c.Right, c.Gold) }

// F1 is the harmonic mean of the two, 0 if both are.
func (c Counts) F1() float64 { return ratio(2*c.Right, c.Gold+c.Predicted) }

// Exact tells that all is right and nothing else is said.
func (c Counts) Exact() bool { return c.Gold > 0 && c.Right == c.Gold && c.Predicted == c.Gold }

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
