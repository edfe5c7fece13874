// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"context"
	"regexp"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/article"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Rules state without a model: a statement is its sentence without marks, links and
// emphasis. Whom "he" or "the film" means is left open, so that such gold is weaker than
// a model's; reports name it offline.
type Rules struct{}

var _ Stater = Rules{}

// minStatement is the fewest words of a statement.
const minStatement = 5

var (
	sectionEdit = regexp.MustCompile(`\[\[edit\]\([^)]*\)\]`)
	hatnote     = regexp.MustCompile(`^(?:Main article|Main articles|See also|Further information|For [^:]*, see)\b`)
	loose       = regexp.MustCompile(` ([,.;:)])`)
	emphasis    = regexp.MustCompile(`\*+|\b_|_\b`)
)

// State implements Stater.
func (Rules) State(_ context.Context, _ *article.Article, s article.Section) ([]Stated, error) {
	var out []Stated
	for paragraph := range strings.SplitSeq(s.Body, "\n") {
		if !isProse(paragraph) {
			continue
		}
		for _, sentence := range sentences(paragraph) {
			if len(article.Marks(sentence)) > 0 {
				out = append(out, Stated{Sentence: sentence, Statement: plainStatement(sentence)})
			}
		}
	}
	return out, nil
}

// isProse leaves out tables, pictures, headings and pointers to other articles.
func isProse(paragraph string) bool {
	p := strings.TrimSpace(paragraph)
	return p != "" && !strings.HasPrefix(p, "|") && !strings.HasPrefix(p, "[![") && !strings.HasPrefix(p, "![") &&
		!sectionEdit.MatchString(p) && !hatnote.MatchString(p)
}

// sentences splits a paragraph as a reader sees it; the marks behind a sentence belong
// to it.
func sentences(paragraph string) []string {
	clean, m := text.StripLinks(article.Unmark(paragraph))
	spans := text.Sentences(clean)
	var out []string
	for i, s := range spans {
		from, to := m.Source(s.Start), len(paragraph)
		if i == 0 {
			from = 0
		}
		if i+1 < len(spans) {
			to = m.Source(spans[i+1].Start)
			to = openedAt(paragraph, to)
		}
		out = append(out, strings.TrimSpace(paragraph[from:to]))
	}
	return out
}

// openedAt goes back from the first visible letter of a sentence over the bracket of the
// link it stands in.
func openedAt(paragraph string, at int) int {
	for at > 0 && strings.ContainsRune("[_*\"“(", rune(paragraph[at-1])) {
		at--
	}
	return at
}

// plainStatement is a sentence as it is read, or "" if that is too short or a formula.
func plainStatement(sentence string) string {
	clean, _ := text.StripLinks(article.Unmark(sentence))
	clean = strings.Trim(text.OneLine(emphasis.ReplaceAllString(clean, "")), "-• ")
	clean = loose.ReplaceAllString(clean, "$1")
	if len(strings.Fields(clean)) < minStatement || strings.Contains(clean, `\displaystyle`) {
		return ""
	}
	return clean
}

// plainText is a section as it is read.
func plainText(body string) string {
	clean, _ := text.StripLinks(article.Unmark(body))
	return text.OneLine(clean)
}
