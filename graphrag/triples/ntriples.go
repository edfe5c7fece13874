// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// NTriples reads the lines of "RDF 1.1 N-Triples" (W3C 2014). Things are called what
// labels say, or else the last part of their IRI; [NTriplesLabels] reads the labels
// of the same file. Blank nodes and labels themselves are passed over.
func NTriples(name string, in io.Reader, labels Labels) *Reader {
	return &Reader{name: name, in: in, parse: func(line string) (Triple, error) {
		s, err := parseStatement(line)
		if err != nil {
			return Triple{}, err
		}
		_, names := naming[s.predicate]
		if names || strings.HasPrefix(s.subject, "_:") || !s.literal && strings.HasPrefix(s.object, "_:") {
			return Triple{}, errSkip
		}
		tail := Entity{s.object, s.object}
		if !s.literal {
			tail = labels.ofIRI(s.object)
		}
		return triple(labels.ofIRI(s.subject), labels.ofIRI(s.predicate), tail, s.literal)
	}}
}

// naming are the predicates that name a thing, and whether what they say is its
// label; otherwise it is another name.
var naming = map[string]bool{
	"http://www.w3.org/2000/01/rdf-schema#label":    true,
	"http://www.w3.org/2004/02/skos/core#prefLabel": true,
	"http://schema.org/name":                        true,
	"http://www.w3.org/2004/02/skos/core#altLabel":  false,
	"http://schema.org/alternateName":               false,
}

// NTriplesLabels reads the labels in a language, such as "en", of an N-Triples file.
// The first of a thing counts; a label without a language is one of every language.
func NTriplesLabels(name string, in io.Reader, language string) (Labels, Bad, error) {
	labels := Labels{}
	bad, err := readLabels(name, in, func(line string) error {
		s, err := parseStatement(line)
		switch {
		case err != nil:
			return err
		case !naming[s.predicate] || !s.literal || s.language != "" && !strings.EqualFold(s.language, language):
			return errSkip
		}
		return labels.add(s.subject, s.object)
	})
	return labels, bad, err
}

// ofIRI is the thing of an IRI.
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

// statement is a line of N-Triples: IRIs without brackets, blank nodes with "_:", and
// the value of a literal.
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
	if s.subject, rest, err = node(rest); err != nil {
		return s, fmt.Errorf("subject: %w", err)
	}
	if s.predicate, rest, err = node(rest); err != nil {
		return s, fmt.Errorf("predicate: %w", err)
	}
	if strings.HasPrefix(rest, `"`) {
		s.literal = true
		s.object, s.language, rest, err = literal(rest)
	} else {
		s.object, rest, err = node(rest)
	}
	if err != nil {
		return s, fmt.Errorf("object: %w", err)
	}
	if after, ok := strings.CutPrefix(rest, "."); !ok || after != "" && !strings.HasPrefix(strings.TrimSpace(after), "#") {
		return s, errors.New("a statement without its full stop")
	}
	return s, nil
}

// node reads an IRI or a blank node.
func node(s string) (node, rest string, err error) {
	if iri, ok := strings.CutPrefix(s, "<"); ok {
		end := strings.IndexByte(iri, '>')
		if end <= 0 {
			return "", "", errors.New("an IRI without its end")
		}
		node, err = unescape(iri[:end])
		return node, strings.TrimSpace(iri[end+1:]), err
	}
	if strings.HasPrefix(s, "_:") {
		end := strings.IndexAny(s, " \t")
		if end < 0 {
			return "", "", errors.New("a blank node without its end")
		}
		return s[:end], strings.TrimSpace(s[end:]), nil
	}
	return "", "", errors.New("neither an IRI nor a blank node")
}

// literal reads a value and its language or type.
func literal(s string) (value, language, rest string, err error) {
	end := 1
	for ; end < len(s) && s[end] != '"'; end++ {
		if s[end] == '\\' {
			end++
		}
	}
	if end >= len(s) {
		return "", "", "", errors.New("a literal without its end")
	}
	if value, err = unescape(s[1:end]); err != nil {
		return "", "", "", err
	}
	rest = s[end+1:]
	if tagged, ok := strings.CutPrefix(rest, "@"); ok {
		end := strings.IndexAny(tagged, " \t.")
		if end <= 0 {
			return "", "", "", errors.New("a language without its end")
		}
		return value, tagged[:end], strings.TrimSpace(tagged[end:]), nil
	}
	if typed, ok := strings.CutPrefix(rest, "^^"); ok {
		_, rest, err = node(typed)
		return value, "", rest, err
	}
	return value, "", strings.TrimSpace(rest), nil
}

// escapes are those of one letter.
var escapes = map[byte]string{'t': "\t", 'b': "\b", 'n': "\n", 'r': "\r", 'f': "\f", '"': `"`, '\'': "'", '\\': `\`}

// unescape takes \n, \u0041 and the like back.
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
				return "", fmt.Errorf(`the escape \%c`, s[i])
			}
			b.WriteString(plain)
			continue
		}
		if i+n >= len(s) {
			return "", errors.New("an escape without its end")
		}
		code, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
		if err != nil || !utf8.ValidRune(rune(code)) {
			return "", fmt.Errorf(`the escape \%s`, s[i:i+1+n])
		}
		b.WriteRune(rune(code))
		i += n
	}
	return b.String(), nil
}
