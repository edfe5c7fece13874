// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
)

// sep stands for a delimiter between fields, however it was written.
const sep = "\x1f"

var (
	endMark = regexp.MustCompile(`(?i)<?\|\s*COMPLETE\s*\|?>?`)
	// The delimiters <|> and <|#|>, and what models make of them: <|##|>, <#|>,
	// |#|>, <|#|, <||>.
	delimiter = regexp.MustCompile(`<[|#]{1,5}>?|\|#{1,2}\|>?|#{0,2}\|[|#]{0,3}>`)
	// A record begins with its kind and a delimiter. Nothing else is taken for
	// a boundary, so a missing ## or line end loses no record.
	start = regexp.MustCompile(`(?i)\(?\s*["'“]?\b(entity|relationship|relation)\b["'”]?\s*` + sep)
)

// readRecords reads the records of an answer in the format Tuples or Lines. What
// stands around them is ignored; a record that cannot be read is a problem.
func readRecords(answer string, format Format, x *kg.Extraction) {
	text := strings.ReplaceAll(answer, sep, " ")
	text = endMark.ReplaceAllString(text, "\n##\n")
	text = delimiter.ReplaceAllString(text, sep)
	found := start.FindAllStringSubmatchIndex(text, -1)
	if len(found) == 0 && strings.Trim(text, " \t\r\n#") != "" {
		problem(x, "record", answer, "no record in the reply")
	}
	for i, at := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		kind := strings.ToLower(text[at[2]:at[3]])
		record := text[at[0]:end]
		fields := split(body(record, text[at[1]:end]))
		if err := readRecord(kind, fields, format, x); err != nil {
			problem(x, "record", strings.ReplaceAll(record, sep, "<|>"), err.Error())
		}
	}
}

// body cuts off what follows a record: after ##, after the bracket that closes
// it, or, for one without brackets, after its line.
func body(record, fields string) string {
	fields, _, _ = strings.Cut(fields, "##")
	if strings.HasPrefix(record, "(") {
		if i := strings.LastIndexByte(fields, ')'); i >= 0 {
			return fields[:i]
		}
		fields, _, _ = strings.Cut(fields, "\n\n")
		return fields
	}
	fields, _, _ = strings.Cut(strings.TrimLeft(fields, "\r\n"), "\n")
	return fields
}

func split(body string) []string {
	fields := strings.Split(strings.TrimRight(body, sep+" \t\r\n"), sep)
	for i, f := range fields {
		fields[i] = cleanText(f)
	}
	return fields
}

func readRecord(kind string, fields []string, format Format, x *kg.Extraction) error {
	// Models write a relation under the name entity (LightRAG repairs the same).
	if kind == "entity" && format == Lines && len(fields) == 4 {
		kind = "relation"
	}
	if kind == "entity" {
		if len(fields) < 3 {
			return fmt.Errorf("an entity of %d fields, want name, type and description", len(fields))
		}
		return addEntity(fields[0], fields[1], fields[2], x)
	}
	if len(fields) < 4 {
		return fmt.Errorf("a relation of %d fields, want 4", len(fields))
	}
	f := kg.Fact{Triple: graphrag.Triple{Head: cleanName(fields[0]), Tail: cleanName(fields[1])}}
	if format == Lines {
		f.Keywords, f.Description = keywords(fields[2]), fields[3]
	} else {
		// The strength is the last field; a description may hold a delimiter.
		f.Description = strings.Join(fields[2:len(fields)-1], " ")
		f.Weight = strength(fields[len(fields)-1])
	}
	return addFact(f, x)
}

func addEntity(name, kind, description string, x *kg.Extraction) error {
	name, kind = cleanName(name), cleanType(kind)
	switch {
	case name == "":
		return errors.New("an entity without a name")
	case numeric(name):
		return errors.New("a number is no entity")
	case description == "":
		return errors.New("an entity without a description")
	}
	x.Mentions = append(x.Mentions, kg.Mention{Name: name, Type: kind, Description: description})
	return nil
}

func addFact(f kg.Fact, x *kg.Extraction) error {
	switch {
	case f.Head == "" || f.Tail == "":
		return errors.New("a relation without one of its ends")
	case kg.FoldUnicode.Key(f.Head) == kg.FoldUnicode.Key(f.Tail):
		return errors.New("a relation of a thing with itself")
	case f.Description == "":
		return errors.New("a relation without a description")
	}
	x.Facts = append(x.Facts, f)
	return nil
}

// cleanText removes markup and control characters and evens out blanks.
func cleanText(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, html.UnescapeString(strings.ToValidUTF8(s, "")))
	return strings.Join(strings.Fields(s), " ")
}

// cleanName removes quotes around a name as well.
func cleanName(s string) string {
	return strings.TrimSpace(strings.Trim(cleanText(s), `"'“”‘’«»`+"`"))
}

// cleanType is the first of a list, in lower case; one with marks in it is none.
func cleanType(s string) string {
	s, _, _ = strings.Cut(cleanName(s), ",")
	if strings.ContainsAny(s, `'()<>|/\`) {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(s))
}

// numeric tells short bare numbers, under 3 digits or dotted and under 6
// characters, as LightRAG drops them.
func numeric(name string) bool {
	if strings.Trim(name, "0123456789.") != "" {
		return false
	}
	if strings.Contains(name, ".") {
		return len(name) < 6
	}
	return len(name) < 3
}

func keywords(s string) []string {
	var out []string
	for k := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == '，' || r == '、' || r == ';' }) {
		if k = cleanName(k); k != "" {
			out = append(out, k)
		}
	}
	return out
}

// strength is the number that a field begins with, 1 if there is none or it
// makes no sense.
func strength(s string) float64 {
	s = strings.Trim(s, " \"'")
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.') {
		end++
	}
	v, err := strconv.ParseFloat(s[:end], 64)
	if err != nil || !(v > 0) || math.IsInf(v, 1) {
		return 1
	}
	return v
}

// objects is an answer in the format Objects.
type objects struct {
	Entities []struct {
		Name, Type, Desc, Description json.RawMessage
	}
	Relationships []objectRelation
	Others        []objectRelation `json:"other_relationships"`
}

type objectRelation struct{ Source, Target, Desc, Description json.RawMessage }

func readObjects(answer string, types []string, x *kg.Extraction) {
	var o objects
	found, err := llm.ReadObject(answer)
	if err == nil {
		err = json.Unmarshal(found, &o)
	}
	if err != nil {
		problem(x, "record", answer, err.Error())
		return
	}
	for _, e := range o.Entities {
		if err := addEntity(word(e.Name), known(word(e.Type), types), either(e.Desc, e.Description), x); err != nil {
			problem(x, "record", word(e.Name), err.Error())
		}
	}
	for _, r := range slices.Concat(o.Relationships, o.Others) {
		f := kg.Fact{Triple: graphrag.Triple{Head: cleanName(word(r.Source)), Tail: cleanName(word(r.Target))}, Description: either(r.Desc, r.Description)}
		if err := addFact(f, x); err != nil {
			problem(x, "record", f.Head+" | "+f.Tail, err.Error())
		}
	}
}

func either(a, b json.RawMessage) string {
	if text := cleanText(word(a)); text != "" {
		return text
	}
	return cleanText(word(b))
}

// known is the type of the list that is meant, or "unknown".
func known(kind string, types []string) string {
	fold := func(s string) string {
		return strings.ToLower(strings.Map(func(r rune) rune {
			if r == ' ' || r == '_' {
				return -1
			}
			return r
		}, s))
	}
	for _, t := range types {
		if fold(t) == fold(kind) {
			return t
		}
	}
	return "unknown"
}
