// SPDX-License-Identifier: Apache-2.0

package extract

import (
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

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
)

// Format is the format of the records in the replies of a model.
type Format string

const (
	// Tuples is Microsoft GraphRAG's: ("entity"<|>NAME<|>TYPE<|>DESCRIPTION) and
	// ("relationship"<|>SOURCE<|>TARGET<|>DESCRIPTION<|>STRENGTH), with ## between.
	Tuples Format = "tuples"
	// Lines is LightRAG's: entity<|#|>name<|#|>type<|#|>description and
	// relation<|#|>source<|#|>target<|#|>keywords<|#|>description.
	Lines Format = "lines"
	// Objects is Fast-GraphRAG's: a JSON object of entities, relationships, and
	// other relationships that were missed at first.
	Objects Format = "objects"
)

// Entity types that are asked for, by default of each format.
var (
	// graphrag/config/defaults.py of microsoft/graphrag 3.1.2.
	tupleTypes = []string{"organization", "person", "geo", "event"}
	// lightrag/constants.py of LightRAG 1.5.3.
	lineTypes = []string{"Person", "Creature", "Organization", "Location", "Event", "Concept", "Method", "Content", "Data", "Artifact", "NaturalObject"}
)

// NoGleaning as [RecordOptions].Gleanings turns gleaning off.
const NoGleaning = -1

// RecordOptions for [NewRecords].
type RecordOptions struct {
	ModelOptions
	// Format is Tuples if empty.
	Format Format
	// Types are the entity types to look for; by default those of the format's
	// system. Objects needs them.
	Types []string
	// Domain describes the texts and the questions that matter (Fast-GraphRAG's
	// "domain"). Language is that of descriptions, by default that of each passage;
	// names are not translated.
	Domain, Language string
	// Gleanings is how often the model is asked at most for what it has missed: 0
	// for the default of the format (1 of Tuples and Lines, none of Objects),
	// NoGleaning for never. Lines asks at most once.
	Gleanings int
	// AlwaysGlean gleans even if the model marks its reply as complete, as the
	// published programs do. This takes about two thirds of the tokens of the
	// extraction and finds an eighth of the records.
	AlwaysGlean bool
}

// Records extracts typed entities and described relations, and asks again for missed ones
// ("gleaning", From Local to Global, arXiv 2404.16130, section 3.1.2). There are three
// formats, and each record is parsed by itself, tolerantly.
type Records struct{ o RecordOptions }

// NewRecords returns the extractor.
func NewRecords(o RecordOptions) (*Records, error) {
	o.Format = cmp.Or(o.Format, Tuples)
	checks := opt.Checks{Of: "extract"}
	o.check(&checks)
	checks.Want(slices.Contains([]Format{Tuples, Lines, Objects}, o.Format), "Format", o.Format, "tuples, lines or objects")
	opt.Min(&checks, "Gleanings", o.Gleanings, NoGleaning)
	checks.Want(o.Format != Objects || len(o.Types) > 0, "Types", "empty", "the entity types of the domain, which the format objects needs")
	if err := checks.Err(); err != nil {
		return nil, err
	}
	switch {
	case o.Gleanings == NoGleaning, o.Gleanings == 0 && o.Format == Objects:
		o.Gleanings = 0
	case o.Gleanings == 0, o.Format == Lines:
		o.Gleanings = 1
	}
	if len(o.Types) == 0 && o.Format == Tuples {
		o.Types = tupleTypes
	} else if len(o.Types) == 0 {
		o.Types = lineTypes
	}
	o.Types = slices.Clone(o.Types)
	return &Records{o}, nil
}

// Calls returns the most calls for one chunk if none fails: one, one for each gleaning,
// and between two gleanings one that asks whether to go on.
func (r *Records) Calls() int {
	return 1 + r.o.Gleanings + max(0, r.o.Gleanings-1)
}

// Extract implements [Extractor].
func (r *Records) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	return r.o.each(ctx, chunks, r.chunk)
}

func (r *Records) chunk(ctx context.Context, c graphrag.Chunk, x *kg.Extraction) error {
	answers, err := r.ask(ctx, c)
	for _, a := range answers {
		r.read(a, x)
	}
	if r.o.Format == Lines {
		keepLonger(x)
	}
	dropRepeated(x)
	if llm.OfOneReply(err) && len(answers) > 0 {
		problem(x, "record", c.Text, "the rest of the records: "+err.Error())
		return nil
	}
	return err
}

// read adds what a reply says.
func (r *Records) read(answer string, x *kg.Extraction) {
	if r.o.Format == Objects {
		readObjects(answer, r.o.Types, x)
	} else {
		readRecords(answer, r.o.Format, x)
	}
}

// ask returns the replies of all rounds. A first reply of which nothing can be read is
// asked for once more, with the fault named. If a later round fails, the replies before
// it are used.
func (r *Records) ask(ctx context.Context, c graphrag.Chunk) ([]string, error) {
	req, err := prompts.Request(ctx, StageRecords, string(r.o.Format), map[string]any{
		"Types": strings.Join(r.o.Types, ", "), "Domain": r.o.Domain, "Language": r.o.Language,
	}, passage(c))
	if err != nil {
		return nil, err
	}
	if r.o.Format == Objects {
		req.Schema, req.SchemaName = llm.Schema[objects](), StageRecords
	}
	var answers []string
	again := false
	for round := 0; ; round++ {
		reply, err := r.o.Model.Generate(ctx, req)
		if err != nil {
			return append(answers, r.wholePart(err)...), err
		}
		var said kg.Extraction
		if round == 0 {
			r.read(reply.Text, &said)
		}
		lost := len(said.Problems) > 0 && len(said.Mentions)+len(said.Facts) == 0
		if lost && !again {
			again, round = true, -1
			req.Messages = append(slices.Clip(req.Messages), llm.Message{Role: llm.Assistant, Text: kg.Beginning(reply.Text)},
				llm.Message{Role: llm.User, Text: fmt.Sprintf(otherForm, said.Problems[0].Reason)})
			continue
		}
		answers = append(answers, reply.Text)
		if lost || round == r.o.Gleanings || !r.o.AlwaysGlean && complete(reply.Text) {
			return answers, nil
		}
		req.Messages = append(slices.Clip(req.Messages), llm.Message{Role: llm.Assistant, Text: reply.Text})
		if round > 0 && r.o.AlwaysGlean {
			more, err := r.goOn(ctx, req)
			if err != nil || !more {
				return answers, err
			}
		}
		req.Messages = append(slices.Clip(req.Messages), llm.Message{Role: llm.User, Text: moreRecords})
		req.Stage = StageGlean
	}
}

// wholePart is what of a reply that was cut can be read: its whole lines.
func (r *Records) wholePart(err error) []string {
	var e *llm.Error
	if !errors.As(err, &e) || r.o.Format == Objects {
		return nil
	}
	part := e.Partial[:max(0, strings.LastIndexByte(e.Partial, '\n'))]
	var said kg.Extraction
	if r.read(part, &said); len(said.Mentions)+len(said.Facts) == 0 {
		return nil
	}
	return []string{part}
}

const (
	otherForm   = "That reply does not have the form asked for (%s). Write what you found in exactly the form shown in the instructions, with its marks between the fields, and end as told there."
	moreRecords = "Look at the passage again. Are there entities or relations that you have not written? If so, write those, in the same form, and none that you have written before, and end as before. If not, reply <|COMPLETE|> alone."
	anyMore     = "Are entities or relations of the passage still missing? Answer Y or N, one letter."
)

func (r *Records) goOn(ctx context.Context, req llm.Request) (bool, error) {
	req.Messages = append(slices.Clip(req.Messages), llm.Message{Role: llm.User, Text: anyMore})
	req.Schema = nil
	reply, err := r.o.Model.Generate(ctx, req)
	return strings.HasPrefix(strings.ToUpper(strings.TrimSpace(reply.Text)), "Y"), err
}

// keepLonger keeps, of the records of one chunk with the same key, the one with the longest
// description, the first of equal ones (LightRAG's rule for gleaning).
func keepLonger(x *kg.Extraction) {
	fold := kg.FoldUnicode.Key
	at := make(map[string]int)
	mentions := x.Mentions[:0]
	for _, m := range x.Mentions {
		key := fold(m.Name)
		if i, ok := at[key]; !ok {
			at[key] = len(mentions)
			mentions = append(mentions, m)
		} else if len(m.Description) > len(mentions[i].Description) {
			mentions[i] = m
		}
	}
	x.Mentions = mentions
	pairs := make(map[[2]string]int)
	facts := x.Facts[:0]
	for _, f := range x.Facts {
		key := [2]string{fold(f.Head), fold(f.Tail)}
		if key[0] > key[1] { // a relation has no direction there
			key[0], key[1] = key[1], key[0]
		}
		if i, ok := pairs[key]; !ok {
			pairs[key] = len(facts)
			facts = append(facts, f)
		} else if len(f.Description) > len(facts[i].Description) {
			facts[i] = f
		}
	}
	x.Facts = facts
}

// sep replaces every spelling of the delimiter between fields.
const sep = "\x1f"

// The marks at the end of a reply: complete, or not.
var (
	endMark   = regexp.MustCompile(`(?i)<?\|\s*(?:COMPLETE|MORE)\s*\|?>?`)
	completed = regexp.MustCompile(`(?i)\|\s*COMPLETE\s*\|?>?`)
)

// complete reports whether a reply is marked as complete, whatever stands behind the mark
// but another record, or is a whole JSON value.
func complete(reply string) bool {
	at := completed.FindAllStringIndex(reply, -1)
	if at == nil {
		return inJSON(reply) != nil
	}
	return !delimiter.MatchString(reply[at[len(at)-1][1]:])
}

// delimiter matches <|> and <|#|> and the damaged forms that models write: <|##|>, <#|>,
// |#|>, <|#|, <||>, ||#||, doubled ones, and ones with an extra character: <X|#|>,
// <|#|Y>, <|\#|>, <|#:, <|#|>|.
var delimiter = regexp.MustCompile(`<[A-Za-z\\]?\|{0,2}\\?#{1,2}[|#:]{0,5}(?:[A-Za-z]?>)?\|?` +
	`|<\|{1,3}>?|\|{1,2}#{1,2}\|{1,2}>?|#{0,2}\|[|#]{0,3}>`)

// delimit replaces the delimiters of a format by sep. A damaged one between blanks is
// prose, such as an operator that a passage explains.
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

// start matches the beginning of a record: its kind and a delimiter, at the start of the
// text or of a line (which may be numbered), or after ##, a bracket, or the last field of
// another record, which may end with a full stop.
var start = regexp.MustCompile(`(?i)(^|\n|##|\(|[.!?。] |` + sep + `)[ \t\r]*(?:(?:[-•>]|\d{1,3}[.)])[ \t]*)?["'“*_` + "`" + `]*` +
	`(` + entityWords + `|` + relationWords + `)["'”*_` + "`" + `]*\s*` + sep)

// The words that models write for the kinds of records, in the languages of package text.
const (
	entityWords   = `entity|entities|node|entität|entité|entidad|entità|entidade|entiteit|entitet|encja|сущность|varlık|实体|實體|エンティティ|개체|كيان`
	relationWords = `relationships?|relations?|edge|beziehung|relación|relazione|relação|relatie|relacja|отношение|связь|ilişki|关系|關係|関係|관계|علاقة`
)

var (
	entityWord = regexp.MustCompile(`(?i)^(?:` + entityWords + `)$`)
	kindWord   = regexp.MustCompile(`(?i)^[("'*_` + "`" + `\s]*(` + entityWords + `|` + relationWords + `)["'*_` + "`" + `\s]*$`)
)

// kindOf is the kind of a record by its first word, as our prompts name it.
func kindOf(word string) string {
	if entityWord.MatchString(word) {
		return "entity"
	}
	return "relation"
}

// written is a record in a reply.
type written struct {
	kind    string
	text    string // all of it
	fields  string
	bracket bool // it begins with one
}

// cut finds the records of a text with sep between the fields. A field that looks like the
// beginning of a record begins one only after a complete record: a type may be called
// "entity".
func cut(text string) (out []written) {
	var begins [][]int // of boundary, kind, fields
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
		from = at[1] - len(sep) // which may be before the next record
	}
	for i, at := range begins {
		end := len(text)
		if i+1 < len(begins) {
			end = begins[i+1][0]
			if strings.HasSuffix(text[end:begins[i+1][3]], " ") { // the full stop is the record's
				end = begins[i+1][3]
			}
		}
		out = append(out, written{kindOf(text[at[4]:at[5]]), text[at[3]:end], text[at[1]:end], text[at[2]:at[3]] == "("})
	}
	return out
}

// whole reports whether the record has all its fields before an offset.
func whole(text string, begin []int, end int) bool {
	fields := 4
	if kindOf(text[begin[4]:begin[5]]) == "entity" {
		fields = 3
	}
	return begin[1] <= end && strings.Count(text[begin[1]:end], sep) >= fields-1
}

// readRecords parses the records of a reply in the format Tuples or Lines. Other text is
// ignored; a record that cannot be parsed is a problem.
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
	if len(found) > 0 || nothing(reply) {
		return
	}
	value := inJSON(answer)
	if table := inTables(reply); value == nil && table != nil {
		value = table
	}
	if value == nil || !readValue(value, x) {
		problem(x, "record", answer, "no record in the reply")
	}
}

// cells are the fields of a line between bars or tabs, without what is around a row.
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

// rows has sep between the fields of each line that is a record with bars or tabs there.
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

// inTables are the rows of Markdown tables as objects, by the words above the columns.
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

// inJSON is the value of a reply that is JSON: an object, a list, or an object a line. It is
// nil for others.
func inJSON(reply string) (v any) {
	answer, _, _ := llm.SplitThinking(reply)
	text := strings.TrimSpace(llm.Unfence(strings.TrimSpace(answer)))
	if text == "" || !strings.Contains(text, "{") && text[0] != '[' {
		return nil
	}
	for _, form := range []string{text, `{"records":` + text + `}`, `{"records":[` + strings.ReplaceAll(text, "}\n{", "},\n{") + `]}`} {
		if raw, err := llm.ReadObject(form); err == nil && json.Unmarshal(raw, &v) == nil {
			return v
		}
	}
	return nil
}

// readValue adds the records among the objects of a value, known by their keys. It reports
// whether there was a record or an empty list.
func readValue(v any, x *kg.Extraction) (ok bool) {
	switch v := v.(type) {
	case []any:
		ok = len(v) == 0
		for _, e := range v {
			ok = readValue(e, x) || ok
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
			f.Weight = strength(fmt.Sprint(cmp.Or(v["strength"], v["weight"], v["relationship_strength"])))
			f.Description = cmp.Or(description, of("relation", "relationship", "predicate"))
			if err = addFact(f, x); err != nil {
				problem(x, "record", f.Head+" | "+f.Tail, err.Error())
			}
			return true
		case name != "":
			if err = addEntity(name, of("type", "kind", "entity_type", "label", "category"), description, x); err != nil {
				problem(x, "record", name, err.Error())
			}
			return true
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			ok = readValue(v[key], x) || ok
		}
	}
	return ok
}

// nothing reports whether a reply says that there are no records.
func nothing(reply string) bool {
	word := strings.ToLower(strings.Trim(reply, " \t\r\n#.()[]*\"'`"))
	return word == "" || word == "none" || word == "no records"
}

// body returns the fields of a record: up to ##, to its closing bracket or, without
// brackets, to the end of its line.
func (w written) body() string {
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
		fields[i] = unquote(cleanText(f), `"`, `"`) // some quote each field
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
	last := strings.TrimSpace(fields[len(fields)-1])
	switch _, err := strconv.ParseFloat(last, 64); { // some write the relations of the other format
	case format == Lines && err == nil:
		format = Tuples
	case format == Tuples && len(fields) == 4 && strings.Contains(last, " ") && !strings.ContainsAny(last, "0123456789"):
		format = Lines
	}
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

// tag matches an HTML tag that a page or a model left in a text.
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

// cleanName also removes quotes around a name.
func cleanName(s string) string {
	s = cleanText(s)
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

// quotes are pairs of quotation marks.
var quotes = [...][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"„", "“"}, {"„", "”"}, {"‘", "’"}, {"«", "»"}, {"»", "«"}, {"「", "」"}}

// unquote removes quotes around a whole name, and a single quote without a partner. Quotes
// around a part of a name stay: "Weird Al" Yankovic.
func unquote(s, open, end string) string {
	inner, begins := strings.CutPrefix(s, open)
	inside, ends := strings.CutSuffix(inner, end)
	switch {
	case begins && ends && (open == "'" || !strings.Contains(inside, open) && !strings.Contains(inside, end)):
		return inside
	case begins && ends && strings.HasPrefix(inside, open) && strings.HasSuffix(inside, end): // twice
		return inside
	case begins && !strings.Contains(inner, end):
		return inner
	}
	if rest, ok := strings.CutSuffix(s, end); ok && !strings.Contains(rest, open) {
		return rest
	}
	return s
}

// cleanType returns the first type of a list in lower case, "" if it contains marks.
func cleanType(s string) string {
	s, _, _ = strings.Cut(cleanName(s), ",")
	if strings.ContainsAny(s, `'()<>|/\`) {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(s))
}

// numeric reports whether a name is a short bare number, under 3 digits, or dotted and
// under 6 characters. LightRAG drops these.
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

// strength returns the number that a field begins with, 1 if there is none or it is out
// of range.
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

// objects is a reply in the format Objects.
type objects struct {
	Entities []struct {
		Name, Type, Desc string
		Description      string `json:"description,omitempty"` // as some write it
	}
	Relationships []objectRelation
	Others        []objectRelation `json:"other_relationships"`
}

type objectRelation struct {
	Source, Target, Desc string
	Description          string `json:"description,omitempty"`
}

func readObjects(answer string, types []string, x *kg.Extraction) {
	o, err := llm.Read[objects](answer)
	if err != nil {
		problem(x, "record", answer, err.Error())
		return
	}
	for _, e := range o.Entities {
		if err := addEntity(strings.TrimSpace(e.Name), known(strings.TrimSpace(e.Type), types), either(e.Desc, e.Description), x); err != nil {
			problem(x, "record", e.Name, err.Error())
		}
	}
	for _, r := range slices.Concat(o.Relationships, o.Others) {
		f := kg.Fact{Triple: graphrag.Triple{Head: cleanName(r.Source), Tail: cleanName(r.Target)}, Description: either(r.Desc, r.Description)}
		if err := addFact(f, x); err != nil {
			problem(x, "record", f.Head+" | "+f.Tail, err.Error())
		}
	}
}

func either(a, b string) string { return cmp.Or(cleanText(a), cleanText(b)) }

// known returns the type of the list that matches, or "unknown".
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
