// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/short"
	"github.com/wildgraph/wildgraph/llm"
)

// The formats of questions. The key of each type of questions begins with one of them.
const (
	Choice    = "choice"
	Reversion = "reversion"
)

// Names, as reports show them, of the scores that a reversion gets in addition to its verdict.
const (
	ScorePrecision = "mapping_precision"
	ScoreRecall    = "mapping_recall"
	ScoreF1        = "mapping_f1"
)

// Options of the judge.
type Options struct {
	// Model, if set, decides whether an answer is right, as in the published figures: it sees question, gold
	// and answer and replies 1 or 0. Choices of one letter and scores of reversions are still judged by rules.
	Model llm.Model
}

// Judge is a [judge.Judge] of both formats. By rules a choice is right if the letter is right, and a reversion
// if every placeholder has its right name and the answer has no further pair ([Counts.Exact]).
type Judge struct{ model *short.Judge }

var _ judge.Judge = (*Judge)(nil)

// New returns the judge.
func New(o Options) (*Judge, error) {
	if o.Model == nil {
		return &Judge{}, nil
	}
	m, err := short.New(short.Options{Model: o.Model})
	return &Judge{m}, err
}

// Name returns the name of the rules, after the name of the model's judge if there is one.
func (j *Judge) Name() string {
	const rules = "exact/anonyrag/v2"
	if j.model == nil {
		return rules
	}
	return j.model.Name() + "+" + rules
}

// Info describes the model, or the rules.
func (j *Judge) Info() judge.Info {
	if j.model == nil {
		return judge.Info{Profile: Name, Kind: judge.KindExact}
	}
	return j.model.Info()
}

// Fact judges an answer to a question of either format, by its type.
func (j *Judge) Fact(ctx context.Context, c judge.Case) (out judge.FactJudgment, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if c.Refused {
		c.Answer = ""
	}
	reversion := strings.HasPrefix(c.Type, Reversion)
	want, _ := ParseChoice(c.Reference)
	got, chosen := ParseChoice(c.Answer)
	byModel := j.model != nil && (reversion || want == "" || !chosen)
	if byModel {
		out, err = j.model.Fact(ctx, c)
		out.Scores = nil
	}
	switch {
	case err != nil:
	case reversion:
		n := Compare(GoldOf(c.Reference, c.Aliases...), ParseReversion(c.Answer))
		out.Scores = map[string]judge.Verdict{
			ScorePrecision: judge.Score(n.Precision(), ""), ScoreRecall: judge.Score(n.Recall(), ""), ScoreF1: judge.Score(n.F1(), ""),
		}
		if !byModel {
			out.Verdict = verdict(n.Exact(), "")
		}
	case byModel:
	case chosen:
		out.Verdict = verdict(got == want, "chooses "+got)
	default:
		out.Verdict = verdict(false, "chooses none of A to D, or several")
	}
	return out, err
}

// Summary is not applicable: no question is judged by statements.
func (j *Judge) Summary(context.Context, judge.Case) (judge.SummaryJudgment, error) {
	none := judge.Verdict{State: judge.NotApplicable, Reason: "answers are right or wrong"}
	return judge.SummaryJudgment{Recall: none, Precision: none}, nil
}

func verdict(right bool, why string) judge.Verdict {
	if right {
		return judge.Score(1, why)
	}
	return judge.Score(0, why)
}

var (
	// marked matches a letter after a word such as "answer", opened a letter at the beginning of the text,
	// bracketed a letter in brackets.
	marked    = regexp.MustCompile(`(?:\b(?i:answer|choice|option|choose|pick|select)(?i:\s+is)?|答案是?|选择?|选项)\s*[:=]?\s*[*"'(\[]*([A-D](?:[^\pL\pN]|\p{Han}|$)|[a-d]\W*$)`)
	opened    = regexp.MustCompile(`^[\s*"']*([A-Da-d])(?:\W*$|\s*[).:*]|\s*、\s*(?:[^A-D\s]|[A-D]\pL))`)
	bracketed = regexp.MustCompile(`[(\[]([A-D])[)\]]`)
	// alone matches a capital letter that is not part of a word, except an A before a word in lower case, which
	// is an article.
	alone   = regexp.MustCompile(`(?:^|[^\pL\pN#]|\p{Han})([A-D])(?:[^\pL\pN#']|\p{Han}|$)`)
	article = regexp.MustCompile(`\bA\s+\p{Ll}+`)
)

// ParseChoice reads the letter, A to D, that an answer chooses: at its beginning, in brackets or named as the
// answer, else the only single letter. An answer with several letters has no choice.
func ParseChoice(answer string) (string, bool) {
	answer = strings.TrimSpace(norm.NFKC.String(answer))
	found := make(map[string]bool)
	for _, of := range []*regexp.Regexp{marked, opened, bracketed} {
		add(found, of, answer)
	}
	if len(found) == 0 {
		add(found, alone, article.ReplaceAllStringFunc(answer, func(words string) string {
			if strings.HasSuffix(words, " and") || strings.HasSuffix(words, " or") {
				return words
			}
			return strings.ToLower(words)
		}))
	}
	letter := strings.Join(slices.Collect(maps.Keys(found)), "")
	if len(found) != 1 {
		return "", false
	}
	return letter, true
}

// add adds the letters that a pattern finds in s. Neighbouring matches may share a separator.
func add(found map[string]bool, of *regexp.Regexp, s string) {
	for at := 0; at < len(s); {
		m := of.FindStringSubmatchIndex(s[at:])
		if m == nil {
			return
		}
		found[strings.ToUpper(s[at+m[2]:at+m[2]+1])] = true
		at += m[2] + 1
		if of == opened {
			return
		}
	}
}

// Pair is the name that an answer gives to a placeholder.
type Pair struct {
	// Placeholder is written without brackets: PERSON#12.
	Placeholder string `json:"placeholder"`
	Name        string `json:"name"`
}

var (
	anyPlaceholder = regexp.MustCompile(`(?i)[a-z]+#[0-9]+`)
	// entry matches a placeholder, with or without brackets, quotes or bold, and the separator before its
	// name: signs, or in a sentence a verb or a bracket.
	entry = regexp.MustCompile(`(?i)[\[【"'*` + "`" + `]*([a-z]+#[0-9]+)[\]】"'*` + "`" + `]*[ \t]*(?:[—–]+|-+>?|→|:|=+>?|\||` +
		`((?:is|was|refers to|stands for|represents|means|ist|steht für)(?: (?:most |very )?(?:likely|probably|actually|called|named))?[ \t:]+|(?:应该?|其实|指的)?(?:就|即)?是(?:指)?|应为|即为|指的?|代表|\())`)
	// sentenceName matches the name that follows the verb of a sentence, not a description such as "a sailor".
	sentenceName = regexp.MustCompile(`^[\s"'“‘*]*((?:(?:\p{Lu}[\pL\pM'’-]*(?:\.? |\b))(?:(?:\p{Lu}[\pL\pM'’-]*|de|van|von|of|the|der|la)(?:\.? |\b))*|[\p{Han}·]{1,8})(?:\s*\([\p{Lu}\p{Han}][^()\n]*\))?)(?:[^\p{Han}]|$)`)
	// mark matches a citation of a source, indefinite the indefinite article of a description.
	mark       = regexp.MustCompile(`(?i)\s*(?:[\[【][^\]】\n]*[\]】]|\((?:(?:from )?memory|passages?|sources?|facts?|reports?|记忆|段落|来源)[^)\n]*\))`)
	indefinite = regexp.MustCompile(`^(?:一[个位名座种]|谁|什么|某|不|被|在|的)`)
)

// ParseReversion reads the names that an answer gives to placeholders, in their order. An entry is a
// placeholder and its name, separated by a dash, a colon, an equals sign or an arrow; it ends with its line,
// with a semicolon, or at the next entry. In a sentence, as "[PERSON#1] is Jim, ...", the name is recognized
// by its spelling. Placeholders without a name and source marks are ignored. Characters are read in their
// compatible forms (NFKC), which covers full-width signs.
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
		if at[4] >= 0 {
			said := sentenceName.FindStringSubmatch(name)
			if said == nil || indefinite.MatchString(said[1]) {
				continue
			}
			name = said[1]
		} else if plain := mark.ReplaceAllString(name, ""); trimName(plain) != "" {
			name = plain
		}
		if name = trimName(name); name != "" {
			out = append(out, Pair{strings.ToUpper(answer[at[2]:at[3]]), name})
		}
	}
	return out
}

// trimName removes quotes, punctuation and blanks around a name.
func trimName(s string) string {
	return strings.Join(strings.Fields(strings.Trim(s, " \t\"'“”‘’*_`|,，、。.{}[]【】")), " ")
}

// Gold maps each placeholder to its right names. Reports show the first name.
type Gold map[string][]string

// GoldOf reads the gold of a question from its reference, and further right names from the aliases.
func GoldOf(reference string, aliases ...string) Gold {
	g := make(Gold)
	for _, text := range append([]string{reference}, aliases...) {
		for _, p := range ParseReversion(text) {
			g[p.Placeholder] = append(g[p.Placeholder], p.Name)
		}
	}
	return g
}

// Counts are numbers of placeholders: in the gold, in the answer, and with the right name in the answer.
type Counts struct {
	Gold      int `json:"gold"`
	Predicted int `json:"predicted"`
	Right     int `json:"right"`
}

// apposition matches an explanation that follows a name, as in "Israel Hands, the coxswain".
var apposition = regexp.MustCompile(`(?:,\s*|\s*\()(?:the|an?|who|whose|his|her|their) .*$`)

// otherName matches a name followed by a second name in brackets.
var otherName = regexp.MustCompile(`^(.+?)\s*\(([^()]+)\)$`)

// Compare counts placeholders. Only the first name that an answer gives to a placeholder can be right; every
// further different name is wrong. Names are compared without case, character form and apposition. A name is
// right if it, or a name in brackets after it, equals the gold name or an alias.
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
		forms := append([]string{name, apposition.ReplaceAllString(name, "")}, otherName.FindStringSubmatch(name)...)
		if first && slices.ContainsFunc(g[p.Placeholder], func(want string) bool { return slices.Contains(forms, fold(want)) }) {
			c.Right++
		}
	}
	return c
}

// Precision returns the share of the answered placeholders that are right, 0 for an empty answer.
func (c Counts) Precision() float64 { return ratio(c.Right, c.Predicted) }

// Recall returns the share of the gold placeholders that are answered correctly.
func (c Counts) Recall() float64 { return ratio(c.Right, c.Gold) }

// F1 returns the harmonic mean of precision and recall, 0 if both are 0.
func (c Counts) F1() float64 { return ratio(2*c.Right, c.Gold+c.Predicted) }

// Exact reports whether the answer has the right name of every gold placeholder, and nothing else.
func (c Counts) Exact() bool { return c.Gold > 0 && c.Right == c.Gold && c.Predicted == c.Gold }

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
