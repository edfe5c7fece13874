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

//go:embed denial.txt
var denialWords string

// longest is the longest entry of denial.txt in bytes, maxRefusal how long a refusal is.
const longest, maxRefusal = 64, 700

// lexicons are the words of each language of denial.txt, with their kinds. A beginning ends with *.
var lexicons = sync.OnceValue(func() (out []map[string]string) {
	for line := range strings.Lines(denialWords) {
		kind, words, ok := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.HasPrefix(line, "#"):
		case !ok:
			out = append(out, make(map[string]string))
		default:
			for w := range strings.SplitSeq(words, ", ") {
				if last := out[len(out)-1]; last[w] == "" {
					last[w] = kind
				}
			}
		}
	}
	return out
})

// A denial by the kinds of its words, x for any other: the material does not tell, it tells nothing, none of
// it tells, it is not told in it, I do not know, there is no answer, it is not known who, there is nothing on it.
var denials = regexp.MustCompile(`M(?:J.{0,3})?[^J]{0,9}[NG][^J]{0,8}[TFWH]|M[^J]{0,8}T[^JE]?N|M[^J]{0,9}[TFBH][^J]{0,11}G|N.{0,3}M[^J]{0,6}[TF]|` +
	`[NG].{0,6}[TFDHWK].{0,12}L.{0,4}M|[NG].?L.{0,4}M|I.{0,4}[NG].{0,9}[TFDHWK]|I.{0,3}[TF].{0,9}G|INF|W.{0,9}[NG].{0,5}[TFDL]|^.{0,2}N.{0,2}W|W.{0,5}K|` +
	`EB.?[NG].?[TFDK](?:$|[YJ])|E.?[TB].{0,2}G.?[TFDK]?(?:$|[YJ])|E.{0,2}KY|B.{0,2}[NG].?[TFD]$|BK$|^.?[NG][TFD]$|^B?N[TFD][YJ]|^.?K.?$|^.?KY|^.{0,2}Z.?[TFD]|EB.{0,2}N.{0,4}[HW]|EBN.{0,4}[HW]|` +
	`^P?.?N.{0,2}H(?:$|[UBTDYLG]|.{0,8}M)|[HM].{0,9}K|Mx{0,12}K$|^.?Kx{0,12}Y|Z.{0,3}[TFD].{0,3}L.?M|M[^J]{0,3}W.{0,9}N$|M.{0,3}GJF|H.{0,8}G$`)

// Of kinds: what only names the material, and what tells about it or offers help and answers nothing.
var (
	inPassing = regexp.MustCompile(`A.{0,3}M|Q.?M`)
	pointing  = regexp.MustCompile(`[MO].*[TO]|[MTO].*O|P|^[xC]?$`)
	joined    = regexp.MustCompile(`^.?.?N`)
)

// kindsOf are the kinds of the words of a clause in lower case, by one language. own are the words of the question.
func kindsOf(clause string, words map[string]string, own map[string]bool) string {
	var b strings.Builder
	half := false
	for i := 0; i < len(clause); {
		r, size := utf8.DecodeRuneInString(clause[i:])
		end := i + size
		if r == ' ' {
			i = end
			continue
		}
		if !text.Unspaced(r) {
			end = i + max(strings.IndexFunc(clause[i:]+" ", func(r rune) bool { return r == ' ' || text.Unspaced(r) }), 1)
		}
		kind := map[bool]string{false: "x", true: ","}[r == ',']
		for n := min(longest, len(clause)-i); n > 0; n-- {
			k, at := words[clause[i:i+n]], i+n
			if k != "" && (at == len(clause) || clause[at] == ' ' || text.Unspaced(r)) {
				kind, end = k, at
				break
			} else if k = words[clause[i:at]+"*"]; k != "" {
				kind = k
				break
			}
		}
		if kind == "M" && own[clause[i:end]] {
			kind = "x"
		}
		i = end
		if half = kind == "x" && text.Unspaced(r) && !half; half || kind == "-" { // a word has two characters
			continue
		}
		b.WriteString(kind)
	}
	return inPassing.ReplaceAllString(b.String(), "x")
}

// IsRefusal reports whether an answer without citations declines: it is the mark [none] alone, or, in any of the languages of package text: it is
// short, a clause denies that the material, or who answers, tells or knows it, and no other clause says anything but
// what the material is about. What the question names is no material; the question may be empty.
func IsRefusal(asked, answer string) bool {
	answer = strings.TrimSpace(answer)
	if answer == "" || len(answer) > maxRefusal {
		return false
	}
	if said, _, none := cite(answer, material{}); none && said == "" {
		return true
	}
	own := make(map[string]bool)
	for _, w := range strings.Fields(folded(asked)) {
		own[w] = true
	}
	clauses := clausesOf(answer)
	return slices.ContainsFunc(lexicons(), func(words map[string]string) bool { return denies(clauses, words, own) })
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

func denies(clauses []string, words map[string]string, own map[string]bool) (denied bool) {
	material := false // whether an earlier clause is about the material
	for _, c := range clauses {
		number := strings.ContainsFunc(c, unicode.IsNumber)
		kinds := kindsOf(c, words, own)
		if strings.HasPrefix(kinds, "V") || strings.HasPrefix(kinds, "N,") && !strings.Contains(kinds, "M") {
			return false // the answer to a question for a reason, or for yes or no
		}
		if strings.HasPrefix(kinds, "C") {
			kinds = strings.Replace(kinds, ",", "C", 1) // although it says this, it does not say that
		}
		for i, s := range strings.Split(strings.ReplaceAll(kinds, ",", ""), "C") {
			if material && i > 0 && joined.MatchString(s) {
				s = "M" + s
			} else if material {
				s = strings.Replace(s, "E", "M", 1)
			}
			material = material || strings.Contains(s, "M")
			switch {
			case denials.MatchString(s), material && i > 0 && strings.HasSuffix(s, "K"):
				denied = true
			case s != "" && (!pointing.MatchString(s) || !strings.Contains(s, "O") && (number || denied && strings.Contains(s, "J"))):
				return false
			}
		}
	}
	return denied
}
