// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Entity is an entity or a relation of a graph.
type Entity struct {
	// ID is unique. In a format without ids it is the Label.
	ID string
	// Label is the name.
	Label string
}

// Triple is one statement of a graph.
type Triple struct {
	Head, Relation, Tail Entity
	// Literal reports that Tail is a value, such as a date: equal values do not connect triples.
	Literal bool
}

// Text returns the labels, separated by blanks.
func (t Triple) Text() string { return t.Head.Label + " " + t.Relation.Label + " " + t.Tail.Label }

// Limits of the input, in bytes.
const (
	// MaxLine is the largest length of a line.
	MaxLine = 1 << 20
	// MaxLabel is the largest length of a label: longer texts are not names.
	MaxLabel = 2000
)

// firstBad is the number of invalid lines whose errors are kept.
const firstBad = 10

// Bad reports the invalid lines of a file.
type Bad struct {
	Lines int
	// First are the errors of the first ten invalid lines, with file and line.
	First []error
}

// Reader reads the triples of a file, once.
type Reader struct {
	name  string
	in    io.Reader
	parse func(line string) (Triple, error)
	bad   Bad
}

// Bad returns the invalid lines so far.
func (r *Reader) Bad() Bad { return r.bad }

// All yields the triples in the order of the file. It skips valid lines without a triple of named entities,
// such as those with blank nodes or labels. A read error ends the sequence.
func (r *Reader) All() iter.Seq2[Triple, error] {
	return func(yield func(Triple, error) bool) {
		for line, err := range lines(r.in) {
			if err != nil && !errors.Is(err, errLong) {
				yield(Triple{}, fmt.Errorf("%s:%d: %w", r.name, line.number, err))
				return
			}
			var t Triple
			if err == nil {
				t, err = r.parse(line.text)
			}
			switch {
			case errors.Is(err, errSkip):
			case err != nil:
				r.bad.add(r.name, line.number, err)
			case !yield(t, nil):
				return
			}
		}
	}
}

func (b *Bad) add(name string, line int, err error) {
	if b.Lines++; b.Lines <= firstBad {
		b.First = append(b.First, fmt.Errorf("%s:%d: %w", name, line, err))
	}
}

var (
	errSkip = errors.New("the line has no triple of named entities")
	errLong = fmt.Errorf("the line has more than %d bytes", MaxLine)
)

type inputLine struct {
	number int // line number, from 1
	text   string
}

// lines yields the lines that are not empty. For a line that is too long it yields errLong without the text.
func lines(in io.Reader) iter.Seq2[inputLine, error] {
	return func(yield func(inputLine, error) bool) {
		plain, err := unpacked(in)
		if err != nil {
			yield(inputLine{1, ""}, err)
			return
		}
		for n := 1; ; n++ {
			text, err := readLine(plain)
			if n == 1 {
				text = strings.TrimPrefix(text, "\ufeff")
			}
			if errors.Is(err, io.EOF) && text == "" {
				return
			}
			if errors.Is(err, io.EOF) {
				err = nil // the next read returns the error again
			}
			if strings.TrimSpace(text) == "" && err == nil {
				continue
			}
			if !yield(inputLine{n, text}, err) || err != nil && !errors.Is(err, errLong) {
				return
			}
		}
	}
}

// unpacked returns a reader of a file that may be compressed by gzip.
func unpacked(in io.Reader) (*bufio.Reader, error) {
	r := bufio.NewReaderSize(in, 1<<16)
	if magic, err := r.Peek(2); err != nil || !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return r, nil // the next read returns the error again
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, 1<<16), nil
}

// readLine reads up to the next line break, and returns the line without it.
func readLine(r *bufio.Reader) (string, error) {
	var b []byte
	long := false
	for {
		piece, err := r.ReadSlice('\n')
		if long = long || len(b)+len(piece) > MaxLine; !long {
			b = append(b, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && (err == nil || errors.Is(err, io.EOF)) {
			return "", errLong
		}
		return strings.TrimRight(string(b), "\r\n"), err
	}
}

// checkLabel checks a name, and collapses its white space.
func checkLabel(s string) (string, error) {
	switch s = strings.Join(strings.Fields(s), " "); {
	case s == "":
		return "", errors.New("the name is empty")
	case len(s) > MaxLabel:
		return "", fmt.Errorf("the name has %d bytes, want at most %d", len(s), MaxLabel)
	case !utf8.ValidString(s):
		return "", errors.New("the name is not UTF-8")
	}
	return s, nil
}

// newTriple checks a triple.
func newTriple(head, relation, tail Entity, literal bool) (Triple, error) {
	t := Triple{head, relation, tail, literal}
	for _, part := range []struct {
		of string
		e  *Entity
	}{{"head", &t.Head}, {"relation", &t.Relation}, {"tail", &t.Tail}} {
		l, err := checkLabel(part.e.Label)
		if err == nil && part.e.ID == "" {
			err = errors.New("the id is empty")
		}
		if err != nil {
			return Triple{}, fmt.Errorf("%s: %w", part.of, err)
		}
		if part.e.ID == part.e.Label {
			part.e.ID = l
		}
		part.e.Label = l
	}
	return t, nil
}

// TSV reads lines with the names of head, relation and tail, separated by tabs. As in the functions below, name
// is the name of the file in errors.
func TSV(name string, in io.Reader) *Reader {
	return &Reader{name: name, in: in, parse: func(line string) (Triple, error) {
		f, err := fields(line, 3)
		if err != nil {
			return Triple{}, err
		}
		return newTriple(named(f[0]), named(f[1]), named(f[2]), false)
	}}
}

// Wikidata5M reads lines with the ids of head, relation and tail, separated by tabs. Labels are read by
// [ReadLabels]; an id without a label is used as the label.
func Wikidata5M(name string, in io.Reader, entities, relations Labels) *Reader {
	return &Reader{name: name, in: in, parse: func(line string) (Triple, error) {
		f, err := fields(line, 3)
		if err != nil {
			return Triple{}, err
		}
		return newTriple(entities.of(f[0]), relations.of(f[1]), entities.of(f[2]), false)
	}}
}

// JSONL reads objects with the keys h, r and t, each a name or an object with id and label. "literal": true
// says that t is a value.
func JSONL(name string, in io.Reader) *Reader {
	return &Reader{name: name, in: in, parse: func(line string) (Triple, error) {
		var v struct {
			H, R, T jsonEntity
			Literal bool
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return Triple{}, err
		}
		return newTriple(Entity(v.H), Entity(v.R), Entity(v.T), v.Literal)
	}}
}

type jsonEntity Entity

func (e *jsonEntity) UnmarshalJSON(data []byte) error {
	var name string
	if json.Unmarshal(data, &name) == nil {
		*e = jsonEntity(named(name))
		return nil
	}
	var v struct{ ID, Label string }
	if err := json.Unmarshal(data, &v); err != nil {
		return fmt.Errorf(`the value is %.40s, want a name or {"id": …, "label": …}`, data)
	}
	if *e = jsonEntity(v); e.Label == "" {
		e.Label = e.ID
	}
	return nil
}

func named(s string) Entity {
	s = strings.TrimSpace(s)
	return Entity{s, s}
}

func fields(line string, n int) ([]string, error) {
	f := strings.Split(line, "\t")
	if len(f) != n {
		return nil, fmt.Errorf("the line has %d fields between tabs, want %d", len(f), n)
	}
	return f, nil
}

// Labels maps ids to labels.
type Labels map[string]string

func (l Labels) of(id string) Entity {
	id = strings.TrimSpace(id)
	if label := l[id]; label != "" {
		return Entity{id, label}
	}
	return Entity{id, id}
}

// ReadLabels reads lines with an id and names, separated by tabs. The first name is the label. Wikidata5M's
// files of entities and relations have this form.
func ReadLabels(name string, in io.Reader) (Labels, Bad, error) {
	labels := Labels{}
	bad, err := readLabels(name, in, func(line string) error {
		id, names, ok := strings.Cut(line, "\t")
		if !ok {
			return errors.New("the line has an id and no name")
		}
		first, _, _ := strings.Cut(names, "\t")
		return labels.add(strings.TrimSpace(id), first)
	})
	return labels, bad, err
}

// add stores the label of an id, unless the id has one.
func (l Labels) add(id, name string) error {
	name, err := checkLabel(name)
	if err == nil && id == "" {
		err = errors.New("the id is empty")
	}
	if _, ok := l[id]; err == nil && !ok {
		l[id] = name
	}
	return err
}

// readLabels calls add for each line, and returns the lines for which add returns an error.
func readLabels(name string, in io.Reader, add func(line string) error) (bad Bad, err error) {
	r := &Reader{name: name, in: in, parse: func(line string) (Triple, error) { return Triple{}, cmp.Or(add(line), errSkip) }}
	for _, err = range r.All() { // it yields no triples, and an error at the end
	}
	return r.bad, err
}

// NTriples reads "RDF 1.1 N-Triples" (W3C 2014). The label of an IRI is that in labels, or else its last part;
// [NTriplesLabels] reads the labels of the same file. Statements about blank nodes and labels are skipped.
// White space in a label or a literal, also as \n or \t, becomes one blank, because names are part of lines in
// prompts and pages; rdflib keeps it.
func NTriples(name string, in io.Reader, labels Labels) *Reader {
	return &Reader{name: name, in: in, parse: func(line string) (Triple, error) {
		s, err := parseStatement(line)
		if err != nil {
			return Triple{}, err
		}
		_, names := naming[s.predicate]
		if names || s.literal && s.object == "" || strings.HasPrefix(s.subject, "_:") || !s.literal && strings.HasPrefix(s.object, "_:") {
			return Triple{}, errSkip
		}
		tail := Entity{s.object, s.object}
		if !s.literal {
			tail = labels.ofIRI(s.object)
		}
		return newTriple(labels.ofIRI(s.subject), labels.ofIRI(s.predicate), tail, s.literal)
	}}
}

// naming has the predicates that give names: true for labels, false for other names.
var naming = map[string]bool{
	"http://www.w3.org/2000/01/rdf-schema#label":    true,
	"http://www.w3.org/2004/02/skos/core#prefLabel": true,
	"http://schema.org/name":                        true,
	"http://www.w3.org/2004/02/skos/core#altLabel":  false,
	"http://schema.org/alternateName":               false,
}

// NTriplesLabels reads the labels in a language, such as "en", of an N-Triples file. The first label of an
// entity is used; a label without a language counts for every language.
func NTriplesLabels(name string, in io.Reader, lang string) (Labels, Bad, error) {
	labels := Labels{}
	bad, err := readLabels(name, in, func(line string) error {
		s, err := parseStatement(line)
		switch {
		case err != nil:
			return err
		case !naming[s.predicate] || !s.literal || s.object == "" || s.language != "" && !strings.EqualFold(s.language, lang):
			return errSkip
		}
		return labels.add(s.subject, s.object)
	})
	return labels, bad, err
}

// ofIRI returns the entity of an IRI, with its label.
func (l Labels) ofIRI(iri string) Entity {
	if label := l[iri]; label != "" {
		return Entity{iri, label}
	}
	last := strings.TrimRight(iri, "/#")
	if i := strings.LastIndexAny(last, "/#"); i >= 0 {
		last = last[i+1:]
	}
	return Entity{iri, strings.ReplaceAll(last, "_", " ")}
}

// statement is a line of N-Triples: IRIs without brackets, blank nodes with "_:", and the values of literals.
type statement struct {
	subject, predicate, object string
	literal                    bool
	language                   string
}

func parseStatement(line string) (s statement, err error) {
	rest := strings.TrimSpace(line)
	if strings.HasPrefix(rest, "#") {
		return s, errSkip
	}
	if s.subject, rest, err = readNode(rest); err != nil {
		return s, fmt.Errorf("subject: %w", err)
	}
	if s.predicate, rest, err = readNode(rest); err == nil && strings.HasPrefix(s.predicate, "_:") {
		err = errors.New("it is a blank node, want an IRI")
	}
	if err != nil {
		return s, fmt.Errorf("predicate: %w", err)
	}
	if s.literal = strings.HasPrefix(rest, `"`); s.literal {
		s.object, s.language, rest, err = readLiteral(rest)
	} else {
		s.object, rest, err = readNode(rest)
	}
	if err != nil {
		return s, fmt.Errorf("object: %w", err)
	}
	if after, ok := strings.CutPrefix(rest, "."); !ok || after != "" && !strings.HasPrefix(strings.TrimSpace(after), "#") {
		return s, errors.New("the statement has no full stop at its end")
	}
	return s, nil
}

// absolute matches absolute IRIs, language the tag of a language.
var (
	absolute = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^\x60\\]*$`)
	language = regexp.MustCompile(`^[A-Za-z]+(-[A-Za-z0-9]+)*$`)
)

// readNode reads an IRI or a blank node.
func readNode(s string) (node, rest string, err error) {
	if iri, ok := strings.CutPrefix(s, "<"); ok {
		end := strings.IndexByte(iri, '>')
		if end <= 0 {
			return "", "", errors.New("the IRI has no closing bracket")
		}
		if node, err = unescape(iri[:end]); err == nil && !absolute.MatchString(node) {
			err = fmt.Errorf("%.80q is not an absolute IRI", node)
		}
		return node, strings.TrimSpace(iri[end+1:]), err
	}
	if strings.HasPrefix(s, "_:") {
		end := strings.IndexAny(s, " \t")
		if end < 0 {
			return "", "", errors.New("no blank follows the blank node")
		}
		return s[:end], strings.TrimSpace(s[end:]), nil
	}
	return "", "", errors.New("want an IRI or a blank node")
}

// readLiteral reads a value and its language or type.
func readLiteral(s string) (value, tag, rest string, err error) {
	end := 1
	for ; end < len(s) && s[end] != '"'; end++ {
		if s[end] == '\\' {
			end++
		}
	}
	if end >= len(s) || strings.Contains(s[:end], "\r") {
		return "", "", "", errors.New("the literal has no closing quote on its line")
	}
	if value, err = unescape(s[1:end]); err != nil {
		return "", "", "", err
	}
	rest = s[end+1:]
	if tagged, ok := strings.CutPrefix(rest, "@"); ok {
		end := strings.IndexAny(tagged, " \t.")
		if end <= 0 || !language.MatchString(tagged[:end]) {
			return "", "", "", fmt.Errorf("%.20q does not begin with a language tag", tagged)
		}
		return value, tagged[:end], strings.TrimSpace(tagged[end:]), nil
	}
	if typed, ok := strings.CutPrefix(rest, "^^"); ok {
		_, rest, err = readNode(typed)
		return value, "", rest, err
	}
	return value, "", strings.TrimSpace(rest), nil
}

// escapes maps the letter of an escape sequence to its meaning.
var escapes = map[byte]string{'t': "\t", 'b': "\b", 'n': "\n", 'r': "\r", 'f': "\f", '"': `"`, '\'': "'", '\\': `\`}

// unescape resolves escape sequences such as \n and \u0041.
func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		n := map[byte]int{'u': 4, 'U': 8}[s[i]]
		if n == 0 {
			plain, ok := escapes[s[i]]
			if !ok {
				return "", fmt.Errorf(`the escape sequence \%c is unknown`, s[i])
			}
			b.WriteString(plain)
			continue
		}
		if i+n >= len(s) {
			return "", errors.New("an escape sequence is incomplete")
		}
		code, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
		if err != nil || !utf8.ValidRune(rune(code)) {
			return "", fmt.Errorf(`the escape sequence \%s is invalid`, s[i:i+1+n])
		}
		b.WriteRune(rune(code))
		i += n
	}
	return b.String(), nil
}
