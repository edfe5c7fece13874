// SPDX-License-Identifier: Apache-2.0

package reader

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// denialText has the rules, kinds and words of denials; its head describes the format.
//
//go:embed denial.txt
var denialText string

// longestEntry is the largest length of an entry of denial.txt, maxRefusal the largest length of a refusal, in
// bytes.
const longestEntry, maxRefusal = 64, 700

// kindNames are the kinds of words that denial.txt describes. In a string of kinds, each kind is one character.
var kindNames = strings.Fields("other comma filler material according whose me answer content no not notbe tell find found unknown be it in about that who only offer because but although so")

// kindName matches the name of a kind. spacing removes blanks and plus signs between kinds.
var (
	kindName = regexp.MustCompile(`[a-z]+`)
	spacing  = strings.NewReplacer(" ", "", "+", "")
)

func kinds(names string) string {
	return spacing.Replace(kindName.ReplaceAllStringFunc(names, kindRune))
}

// kindRune returns the character of a kind of words. A name outside of kindNames is an error in the program.
func kindRune(name string) string {
	i := slices.Index(kindNames, name)
	if i < 0 {
		panic("reader: denial.txt names the kind " + name)
	}
	return string(rune('À' + i))
}

// denials parses denial.txt: it returns patterns of kinds by the name of the rule, and for each language the
// kinds of its words.
var denials = sync.OnceValues(func() (rules map[string]*regexp.Regexp, languages []map[string]string) {
	sources := make(map[string]string)
	last := ""
	entries(denialText, func(language, name, rest string) {
		if pattern, _, isRule := strings.Cut(rest, " = "); isRule {
			sources[name] += "|" + kinds(pattern)
			return
		}
		if language != last {
			last, languages = language, append(languages, make(map[string]string))
		}
		for word := range strings.SplitSeq(rest, ", ") {
			if words := languages[len(languages)-1]; words[word] == "" {
				words[word] = kinds(name)
			}
		}
	})
	rules = make(map[string]*regexp.Regexp)
	for name, source := range sources {
		rules[name] = regexp.MustCompile(source[1:])
	}
	return rules, languages
})

// kindsOf returns the kinds of the words of a clause in lower case, in one language. own are the words of the
// question, which are not of kind material. In a script without blanks, two characters that are in no entry
// count as one word.
func kindsOf(clause string, words map[string]string, own map[string]bool) string {
	var b strings.Builder
	half := false
	for i := 0; i < len(clause); {
		r, size := utf8.DecodeRuneInString(clause[i:])
		if r == ' ' {
			i += size
			continue
		}
		unspaced := text.Unspaced(r)
		end := i + size
		if !unspaced {
			end = i + max(strings.IndexFunc(clause[i:]+" ", func(r rune) bool { return r == ' ' || text.Unspaced(r) }), 1)
		}
		found := kindRune("other")
		if r == ',' {
			found = kindRune("comma")
		}
		for n := min(longestEntry, len(clause)-i); n > 0; n-- {
			at := i + n
			if k := words[clause[i:at]]; k != "" && (at == len(clause) || clause[at] == ' ' || unspaced) {
				found, end = k, at
				break
			} else if k := words[clause[i:at]+"*"]; k != "" {
				found = k
				break
			}
		}
		if found == kindRune("material") && own[clause[i:end]] {
			found = kindRune("other")
		}
		i = end
		if half = found == kindRune("other") && unspaced && !half; !half && found != kindRune("filler") {
			b.WriteString(found)
		}
	}
	rules, _ := denials()
	return rules["passing"].ReplaceAllString(b.String(), kindRune("other"))
}

// IsRefusal reports whether an answer without citations is a refusal: either it is only the mark [none], or it
// is short, a clause in a language of package text says that the passages do not state the answer, or that the
// writer does not know it, and the other clauses only say what the passages are about. Words of the question do
// not count as a name of the passages; the question may be empty.
func IsRefusal(question, answer string) bool {
	answer = strings.TrimSpace(answer)
	if answer == "" || len(answer) > maxRefusal {
		return false
	}
	if said, _, _, none := cite(answer, citables{}); none && said == "" {
		return true
	}
	own := make(map[string]bool)
	for _, w := range strings.Fields(folded(question)) {
		own[w] = true
	}
	clauses := clausesOf(answer)
	_, languages := denials()
	return slices.ContainsFunc(languages, func(words map[string]string) bool { return denies(clauses, words, own) })
}

var commas = strings.NewReplacer("’", "'", ",", " , ", "，", " , ", "、", " , ")

// clausesOf returns the sentences of an answer, divided at semicolons: lower-case words and single blanks.
func clausesOf(answer string) (out []string) {
	for _, s := range text.Sentences(answer) {
		for part := range strings.FieldsFuncSeq(s.In(answer), func(r rune) bool { return r == ';' || r == '；' }) {
			part = commas.Replace(strings.ToLower(part))
			out = append(out, strings.Join(strings.FieldsFunc(part, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r) && r != '\'' && r != ','
			}), " "))
		}
	}
	return out
}

// denies reports whether clauses are a refusal in one language: at least one denies, and the others only say
// what the passages are about.
func denies(clauses []string, words map[string]string, own map[string]bool) (denied bool) {
	rules, _ := denials()
	material := false // an earlier part mentions the passages
	for _, c := range clauses {
		number := strings.ContainsFunc(c, unicode.IsNumber)
		said := kindsOf(c, words, own)
		if rules["reason"].MatchString(said) {
			return false
		}
		for i, p := range partsOf(said) {
			if material && rules["subject"].MatchString(p.kinds) {
				p.kinds = kindRune("material") + p.kinds
			} else if material {
				p.kinds = strings.Replace(p.kinds, kindRune("it"), kindRune("material"), 1)
			}
			material = material || strings.Contains(p.kinds, kindRune("material"))
			switch {
			case rules["denial"].MatchString(p.kinds), material && i > 0 && strings.HasSuffix(p.kinds, kindRune("unknown")):
				denied = true
			case p.kinds == "" || strings.Contains(p.kinds, kindRune("only")) && rules["pointer"].MatchString(p.kinds):
			case !rules["pointer"].MatchString(p.kinds), number && !p.but, denied && strings.Contains(p.kinds, kindRune("that")):
				return false
			}
		}
	}
	return denied
}

// clausePart is a part of a clause, divided at "but", "although" and "so". but is true if a "but" ends it: then
// the part after it counts more.
type clausePart struct {
	kinds string
	but   bool
}

// partsOf returns the parts of a clause, given as kinds, without commas. A clause that begins with "although"
// or "but" is divided at its first comma.
func partsOf(said string) (parts []clausePart) {
	comma, but, although, so := kindRune("comma"), kindRune("but"), kindRune("although"), kindRune("so")
	if strings.HasPrefix(said, but) || strings.HasPrefix(said, although) {
		said = strings.Replace(said, comma, but, 1)
	}
	said = strings.NewReplacer(comma+so, although, so, kindRune("other"), comma, "").Replace(said)
	for {
		at := strings.IndexAny(said, but+although)
		if at < 0 {
			return append(parts, clausePart{kinds: said})
		}
		parts = append(parts, clausePart{said[:at], strings.HasPrefix(said[at:], but)})
		said = said[at+len(but):]
	}
}
