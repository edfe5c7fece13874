// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// wholeValues returns a truncated JSON text up to its last complete list element, with the brackets still open
// there closed; "" if no element is complete.
func wholeValues(s string) string {
	const deepest = 64
	var open, closing []byte // closing brackets needed at offset i, and at offset end
	end, quoted := 0, false
	begin := max(0, strings.IndexAny(s, "{["))
	for i := begin; i < len(s) && len(open) <= deepest; i++ {
		ends := false
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			ends, quoted = quoted && bytes.Count(open, []byte("]")) == 1, !quoted // in a list of lists, a string is only part of an element
		case quoted:
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case len(open) > 0 && c == open[len(open)-1]:
			open, ends = open[:len(open)-1], true
		}
		if n := len(open); ends && n > 0 && open[n-1] == ']' {
			end, closing = i+1, append(closing[:0], open...)
		}
	}
	slices.Reverse(closing)
	return s[begin:max(end, begin)] + string(closing)
}

// decode asks a model for a T as [replies.Decode] does. From a truncated reply it keeps the complete values,
// and records the loss as a problem.
func decode[T any](ctx context.Context, m llm.Model, req llm.Request, x *kg.Extraction) (T, error) {
	value, _, err := replies.Decode[T](ctx, m, req)
	var e *llm.Error
	if errors.As(err, &e) && e.Kind == llm.ErrTruncated {
		if part, fault := replies.Read[T](wholeValues(e.Partial)); fault == nil {
			problem(x, "record", e.Partial, "the rest of the reply: "+err.Error())
			return part, nil
		}
	}
	return value, err
}

// sep is the byte between two fields, after the model's spellings of the delimiter were replaced.
const sep = "\x1f"

// Patterns of the marks at the end of a reply: any mark, and the mark of a complete reply.
var (
	endMark   = regexp.MustCompile(`(?i)<?\|\s*(?:COMPLETE|MORE)\s*\|?>?`)
	completed = regexp.MustCompile(`(?i)\|\s*COMPLETE\s*\|?>?`)
)

// complete reports whether a reply is marked as complete, with no record after it, or is a whole JSON value.
func complete(reply string) bool {
	at := completed.FindAllStringIndex(reply, -1)
	if at == nil {
		return inJSON(reply) != nil
	}
	return !delimiter.MatchString(reply[at[len(at)-1][1]:])
}

// delimiter matches <|> and <|#|> and the damaged forms that models write: <|##|>, <#|>, |#|>, <|#|, <||>,
// ||#||, doubled ones, and ones with an extra character: <X|#|>, <|#|Y>, <|\#|>, <|#:, <|#|>|.
var delimiter = regexp.MustCompile(`<[A-Za-z\\]?\|{0,2}\\?#{1,2}[|#:]{0,5}(?:[A-Za-z]?>)?\|?` +
	`|<\|{1,3}>?|\|{1,2}#{1,2}\|{1,2}>?|#{0,2}\|[|#]{0,3}>`)

// delimit replaces the delimiters of a format by sep. A misspelled delimiter between blanks stays, because it
// is prose, such as an operator that the passage explains.
func delimit(text string, format Format) string {
	exact := map[Format]string{Tuples: "<|>", Lines: "<|#|>"}[format]
	var b strings.Builder
	end := 0
	for _, at := range delimiter.FindAllStringIndex(text, -1) {
		b.WriteString(text[end:at[0]])
		end = at[1]
		found := text[at[0]:end]
		if found != exact && strings.HasSuffix(text[:at[0]], " ") && strings.HasPrefix(text[end:], " ") {
			b.WriteString(found)
		} else {
			b.WriteString(sep)
		}
	}
	return b.String() + text[end:]
}

// start matches the beginning of a record: its kind and a delimiter. The record begins at the start of the text
// or of a line (which may be numbered), or after ##, a bracket, or the last field of another record, which may
// end with a full stop.
var start = regexp.MustCompile(`(?i)(^|\n|##|\(|[.!?。] |` + sep + `)[ \t\r]*(?:(?:[-•>]|\d{1,3}[.)])[ \t]*)?["'“*_` + "`" + `]*` +
	`(` + entityWords + `|` + relationWords + `)["'”*_` + "`" + `]*\s*` + sep)

// Words that models write for the two kinds of records, in the languages of package text.
const (
	entityWords   = `entity|entities|node|entität|entité|entidad|entità|entidade|entiteit|entitet|encja|сущность|varlık|实体|實體|エンティティ|개체|كيان`
	relationWords = `relationships?|relations?|edge|beziehung|relación|relazione|relação|relatie|relacja|отношение|связь|ilişki|关系|關係|関係|관계|علاقة`
)

var (
	entityWord = regexp.MustCompile(`(?i)^(?:` + entityWords + `)$`)
	kindWord   = regexp.MustCompile(`(?i)^[("'*_` + "`" + `\s]*(` + entityWords + `|` + relationWords + `)["'*_` + "`" + `\s]*$`)
)

// kindOf returns the kind of a record, "entity" or "relation", from its first word.
func kindOf(word string) string {
	if entityWord.MatchString(word) {
		return "entity"
	}
	return "relation"
}

// replyRecord is one record of a model's reply.
type replyRecord struct {
	kind    string
	text    string // text of the whole record
	fields  string
	bracket bool // the record begins with an opening bracket
}

// cut finds the records of a text that has sep between fields. If a field looks like the beginning of a record,
// it is one only after a complete record, because an entity's type may be "entity".
func cut(text string) (out []replyRecord) {
	var begins [][]int // submatch offsets of start: boundary, kind, fields
	for from := 0; strings.Contains(text, sep); {
		at := start.FindStringSubmatchIndex(text[from:])
		if at == nil {
			break
		}
		for i := range at {
			at[i] += from
		}
		inside := text[at[2]:at[3]] == sep || strings.HasSuffix(text[at[2]:at[3]], " ")
		if !inside || len(begins) > 0 && whole(text, begins[len(begins)-1], at[0]) {
			begins = append(begins, at)
		}
		from = at[1] - len(sep) // this delimiter may also precede the next record
	}
	for i, at := range begins {
		end := len(text)
		if i+1 < len(begins) {
			end = begins[i+1][0]
			if strings.HasSuffix(text[end:begins[i+1][3]], " ") { // the full stop belongs to the record before it
				end = begins[i+1][3]
			}
		}
		out = append(out, replyRecord{kindOf(text[at[4]:at[5]]), text[at[3]:end], text[at[1]:end], text[at[2]:at[3]] == "("})
	}
	return out
}

// whole reports whether the record that begins with a match of start has all its fields before the offset end.
func whole(text string, begin []int, end int) bool {
	fields := 4
	if kindOf(text[begin[4]:begin[5]]) == "entity" {
		fields = 3
	}
	return begin[1] <= end && strings.Count(text[begin[1]:end], sep) >= fields-1
}

// readRecords parses the records of a reply in the format Tuples or Lines. Other text is ignored; a record that
// cannot be parsed is recorded as a problem.
func readRecords(answer string, format Format, x *kg.Extraction) {
	reply := strings.ReplaceAll(answer, sep, " ")
	reply = endMark.ReplaceAllString(reply, "\n##\n")
	found := cut(delimit(reply, format))
	if len(found) == 0 {
		found = cut(rows(reply))
	}
	for _, w := range found {
		if err := readRecord(w.kind, split(w.body()), format, x); err != nil {
			problem(x, "record", strings.ReplaceAll(w.text, sep, "<|>"), err.Error())
		}
	}
	if len(found) > 0 || replies.Nothing(reply) {
		return
	}
	value := inJSON(answer)
	if table := inTables(reply); value == nil && table != nil {
		value = table
	}
	if value == nil || !readValue(value, nil, x) {
		problem(x, "record", answer, "no record in the reply")
	}
}

// cells returns the fields of a line that separates them by bars or tabs, without the marks at its ends.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimRight(strings.Trim(line, " \r\n"), "#, "), ")")
	mark := "|"
	if strings.Contains(line, "\t") {
		mark = "\t"
	}
	fields := strings.Split(strings.Trim(strings.TrimLeft(line, "-•* "), mark), mark)
	for i, f := range fields {
		fields[i] = strings.TrimSpace(f)
	}
	return fields
}

// rows replaces the bars or tabs by sep in each line that is an entity or relation record written with them.
func rows(reply string) string {
	var b strings.Builder
	for line := range strings.Lines(reply) {
		fields := cells(line)
		kind := kindWord.FindStringSubmatch(fields[0][:min(len(fields[0]), 40)])
		if kind == nil || len(fields) != map[string]int{"entity": 4, "relation": 5}[kindOf(kind[1])] {
			b.WriteString(line)
			continue
		}
		b.WriteString(kind[1] + sep + strings.Join(fields[1:], sep) + "\n")
	}
	return b.String()
}

// inTables returns the rows of Markdown tables as objects, whose keys are the column headings.
func inTables(reply string) (out []any) {
	var head []string
	for line := range strings.Lines(reply) {
		fields := cells(line)
		switch {
		case len(fields) < 2:
			head = nil
		case strings.Trim(strings.Join(fields, ""), "-: ") == "":
		case head == nil:
			head = fields
		case len(fields) == len(head):
			row := make(map[string]any)
			for i, name := range head {
				row[strings.Trim(name, "*")] = fields[i]
			}
			out = append(out, row)
		}
	}
	return out
}

// inJSON returns the value of a reply that is JSON: an object, a list, or one object per line. It returns nil
// for other replies.
func inJSON(reply string) (v any) {
	answer, _, _ := llm.SplitThinking(reply)
	text := strings.TrimSpace(replies.Unfence(strings.TrimSpace(answer)))
	if text == "" || !strings.Contains(text, "{") && text[0] != '[' {
		return nil
	}
	for _, form := range []string{text, `{"records":` + text + `}`, `{"records":[` + strings.ReplaceAll(text, "}\n{", "},\n{") + `]}`} {
		if raw, err := replies.ReadObject(form); err == nil && json.Unmarshal(raw, &v) == nil {
			return v
		}
	}
	return nil
}

// readValue adds the records that the objects of a JSON value contain, recognized by their keys. An entity type
// not in types, if types is given, becomes "unknown". It reports whether it found a record or an empty list.
func readValue(v any, types []string, x *kg.Extraction) (ok bool) {
	switch v := v.(type) {
	case []any:
		ok = len(v) == 0
		for _, e := range v {
			ok = readValue(e, types, x) || ok
		}
	case map[string]any:
		of := func(keys ...string) (text string) {
			for key, value := range v {
				if s, is := value.(string); is && slices.Contains(keys, strings.ToLower(strings.ReplaceAll(key, " ", "_"))) {
					text = max(text, cleanText(s))
				}
			}
			return text
		}
		name, description := of("name", "entity", "entity_name", "node"), of("description", "desc", "summary", "relationship_description", "entity_description")
		f := kg.Fact{Triple: graphrag.Triple{Head: cleanName(of("source", "head", "subject", "from", "source_entity", "src_id")),
			Tail: cleanName(of("target", "tail", "object", "to", "target_entity", "tgt_id"))},
			Keywords: keywords(of("keywords", "relationship_keywords")), Description: description}
		switch err := error(nil); {
		case f.Head != "" && f.Tail != "":
			if types == nil {
				f.Weight = strength(fmt.Sprint(cmp.Or(v["strength"], v["weight"], v["relationship_strength"])))
			}
			f.Description = cmp.Or(description, of("relation", "relationship", "predicate"))
			if err = addFact(f, x); err != nil {
				problem(x, "record", f.Head+" | "+f.Tail, err.Error())
			}
			return true
		case name != "":
			kind := of("type", "kind", "entity_type", "label", "category")
			if types != nil {
				kind = known(kind, types)
			}
			if err = addEntity(name, kind, description, x); err != nil {
				problem(x, "record", name, err.Error())
			}
			return true
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			ok = readValue(v[key], types, x) || ok
		}
		if !ok && description != "" {
			problem(x, "record", description, "a record without a name")
			return true
		}
	}
	return ok
}

// body returns the fields of a record: up to ##, to its closing bracket or, without brackets, to the end of its line.
func (w replyRecord) body() string {
	fields, _, _ := strings.Cut(w.fields, "##")
	if w.bracket {
		if i := strings.LastIndexByte(fields, ')'); i >= 0 {
			return fields[:i]
		}
		fields, _, _ = strings.Cut(fields, "\n\n")
		return fields
	}
	fields, _, _ = strings.Cut(strings.TrimLeft(fields, "\r\n"), "\n")
	if !strings.Contains(fields, "(") {
		fields = strings.TrimSuffix(strings.TrimRight(fields, " \r"), ")")
	}
	return fields
}

func split(body string) []string {
	fields := strings.Split(strings.TrimRight(body, sep+" \t\r\n"), sep)
	for i, f := range fields {
		fields[i] = unquote(cleanText(f), `"`, `"`) // some models put each field in quotes
	}
	return fields
}

func readRecord(kind string, fields []string, format Format, x *kg.Extraction) error {
	// Models write a relation under the kind "entity"; LightRAG makes the same repair.
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
	last := strings.TrimSpace(fields[len(fields)-1])
	switch _, err := strconv.ParseFloat(last, 64); { // some models write relations in the other format's form
	case format == Lines && err == nil:
		format = Tuples
	case format == Tuples && len(fields) == 4 && strings.Contains(last, " ") && !strings.ContainsAny(last, "0123456789"):
		format = Lines
	}
	if format == Lines {
		f.Keywords, f.Description = keywords(fields[2]), fields[3]
	} else {
		// The strength is the last field, because a description may contain a delimiter.
		f.Description = strings.Join(fields[2:len(fields)-1], " ")
		f.Weight = strength(fields[len(fields)-1])
	}
	return addFact(f, x)
}

func addEntity(name, kind, description string, x *kg.Extraction) error {
	name, kind = cleanName(name), cleanType(kind)
	switch {
	case replies.Nothing(name):
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
	case replies.Nothing(f.Head) || replies.Nothing(f.Tail):
		return errors.New("a relation without one of its ends")
	case kg.FoldUnicode.Key(f.Head) == kg.FoldUnicode.Key(f.Tail):
		return errors.New("a relation of a thing with itself")
	case f.Description == "":
		return errors.New("a relation without a description")
	}
	x.Facts = append(x.Facts, f)
	return nil
}

// tag matches an HTML tag, which a page or a model left in a text.
var tag = regexp.MustCompile(`(?i)</?(?:p|br|b|i|u|em|strong|span|div|a|sup|sub|code|small|li|td)(?:\s[^<>]*)?/?>`)

// cleanText removes markup and control characters and collapses white space.
func cleanText(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, tag.ReplaceAllString(html.UnescapeString(strings.ToValidUTF8(s, "")), ""))
	return strings.Join(strings.Fields(s), " ")
}

// maxName is the number of characters after which a name is cut off (LightRAG, constants.py).
const maxName = 256

// cleanName is cleanText that also removes quotes around a name and cuts it to maxName characters.
func cleanName(s string) string {
	s = cleanText(s)
	if utf8.RuneCountInString(s) > maxName {
		s = string([]rune(s)[:maxName])
	}
	for {
		t := strings.TrimSpace(s)
		for _, q := range quotes {
			t = unquote(t, q[0], q[1])
		}
		if t == s {
			return s
		}
		s = t
	}
}

// quotes are the pairs of opening and closing quotation marks.
var quotes = [...][2]string{{`"`, `"`}, {"''", "''"}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"„", "“"}, {"„", "”"}, {"‘", "’"}, {"«", "»"}, {"»", "«"}, {"「", "」"}}

// unquote removes quotes around a whole name, and a quote at one end without a partner. Quotes around a part of
// a name stay: "Weird Al" Yankovic.
func unquote(s, open, end string) string {
	inner, begins := strings.CutPrefix(s, open)
	inside, ends := strings.CutSuffix(inner, end)
	switch {
	case begins && ends && (open == "'" || !strings.Contains(inside, open) && !strings.Contains(inside, end)):
		return inside
	case begins && ends && strings.HasPrefix(inside, open) && strings.HasSuffix(inside, end): // doubled quotes lose the outer pair
		return inside
	case begins && !strings.Contains(inner, end):
		return inner
	}
	if rest, ok := strings.CutSuffix(s, end); ok && !strings.Contains(rest, open) {
		return rest
	}
	return s
}

// cleanType returns the first type of a comma-separated list in lower case, "" if it has brackets or quotes.
func cleanType(s string) string {
	s, _, _ = strings.Cut(cleanName(s), ",")
	if strings.ContainsAny(s, `'()<>|/\`) {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(s))
}

// numeric reports whether a name is a number of one or two digits, or a number with a dot and under six
// characters. LightRAG drops such names.
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

// strength returns the number at the start of a field, 1 if there is none or it is not positive and finite.
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

// objects is a model's reply in the format Objects.
type objects struct {
	Entities []struct {
		Name, Type, Desc string
	}
	Relationships []objectRelation
	Others        []objectRelation `json:"other_relationships"`
}

type objectRelation struct{ Source, Target, Desc string }

// known returns the element of types that equals kind but for case, blanks and underscores, or "unknown".
func known(kind string, types []string) string {
	for _, t := range types {
		if strings.EqualFold(unspaced.Replace(t), unspaced.Replace(kind)) {
			return t
		}
	}
	return "unknown"
}

var unspaced = strings.NewReplacer(" ", "", "_", "")
