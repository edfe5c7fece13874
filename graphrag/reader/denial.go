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

// longestEntry is the longest entry of denial.txt in bytes, maxRefusal how long a refusal is.
const longestEntry, maxRefusal = 64, 700

// kindNames are the kinds of words that denial.txt describes. In a string of kinds each is one character.
var kindNames = strings.Fields("other comma filler material according whose me answer content no not notbe tell find found unknown be it in about that who only offer because but although so")

// kindName matches the name of a kind, kinds puts its character in place of each, and takes away blanks and plus signs.
var (
	kindName = regexp.MustCompile(`[a-z]+`)
	spacing  = strings.NewReplacer(" ", "", "+", "")
)

func kinds(names string) string {
	return spacing.Replace(kindName.ReplaceAllStringFunc(names, kindRune))
}

// kindRune is the character of a kind of words. A name that is not in kindNames is a fault of the program.
func kindRune(name string) string {
	i := slices.Index(kindNames, name)
	if i < 0 {
		panic("reader: denial.txt names the kind " + name)
	}
	return string(rune('À' + i))
}

// denials reads denial.txt: patterns of kinds by rule, and for each language the kinds of its words.
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

// kindsOf are the kinds of the words of a clause in lower case, by one language. own are the words of the question,
// which name no material. Of two characters of a script without blanks that no entry has, the second counts as no word.
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

// IsRefusal reports whether an answer without citations declines: it is the mark [none] alone, or, in any
// of the languages of package text: it is short, a clause denies that the material, or who answers, tells
// or knows it, and no other clause says anything but what the material is about. What the question names is
// no material; the question may be empty.
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

// clausesOf are the sentences of an answer in lower case, words with single blanks between them.
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

// denies reports whether clauses are a refusal by the words of one language: one denies, the others point.
func denies(clauses []string, words map[string]string, own map[string]bool) (denied bool) {
	rules, _ := denials()
	material := false // whether an earlier part is about the material
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

// clausePart is a clause between "but", "although" and "so"; but is true if a "but" ends it, after which
// the text counts more.
type clausePart struct {
	kinds string
	but   bool
}

// partsOf are the parts of the kinds of a clause, without commas. "Although" at its begin parts it at the first comma.
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
