// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"
)

// Entity is a thing or a relation of a graph.
type Entity struct {
	// ID tells it from all others; it is the Label where a format has no ids.
	ID string
	// Label is what people call it.
	Label string
}

// Triple is one statement of a graph.
type Triple struct {
	Head, Relation, Tail Entity
	// Literal tells that Tail is a value, such as a date, and no entity: two equal
	// values have nothing to do with each other.
	Literal bool
}

// Text is the triple as a sentence of its labels.
func (t Triple) Text() string { return t.Head.Label + " " + t.Relation.Label + " " + t.Tail.Label }

// Limits of what is read, in bytes.
const (
	// MaxLine is the longest line.
	MaxLine = 1 << 20
	// MaxLabel is the longest label: names are shorter, texts are no names.
	MaxLabel = 2000
)

// firstBad is how many bad lines are told.
const firstBad = 10

// Bad are the lines of a file that could not be read.
type Bad struct {
	Lines int
	// First are what is wrong with the first ten, with file and line.
	First []error
}

// Reader reads the triples of a file, once.
type Reader struct {
	name    string
	in      io.Reader
	parse   func(line string) (Triple, error)
	bad     Bad
	skipped int
}

// Bad tells which lines could not be read so far.
func (r *Reader) Bad() Bad { return r.bad }

// Skipped is how many lines were passed over so far that are right but say nothing
// of named things: blank nodes, labels.
func (r *Reader) Skipped() int { return r.skipped }

// All reads the triples in the order of the file. An error ends it: the file
// cannot be read on.
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
				r.skipped++
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
	errSkip = errors.New("nothing of named things")
	errLong = fmt.Errorf("a line of more than %d bytes", MaxLine)
)

type line struct {
	number int // from 1
	text   string
}

// lines yields the lines that are not empty; one that is too long comes as errLong
// and is not held.
func lines(in io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		plain, err := unpacked(in)
		if err != nil {
			yield(line{1, ""}, err)
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
				err = nil // the next one ends it
			}
			if strings.TrimSpace(text) == "" && err == nil {
				continue
			}
			if !yield(line{n, text}, err) || err != nil && !errors.Is(err, errLong) {
				return
			}
		}
	}
}

// unpacked reads a file that may be compressed.
func unpacked(in io.Reader) (*bufio.Reader, error) {
	r := bufio.NewReaderSize(in, 1<<16)
	if magic, err := r.Peek(2); err != nil || !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return r, nil // an error comes again
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, 1<<16), nil
}

// readLine reads up to the next line break, without it.
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

// label checks what somebody calls a thing, and folds its white space.
func label(s string) (string, error) {
	switch s = strings.Join(strings.Fields(s), " "); {
	case s == "":
		return "", errors.New("an empty name")
	case len(s) > MaxLabel:
		return "", fmt.Errorf("a name of %d bytes, at most %d are read", len(s), MaxLabel)
	case !utf8.ValidString(s):
		return "", errors.New("a name that is not UTF-8")
	}
	return s, nil
}

// triple makes a triple of things by id and label.
func triple(head, relation, tail Entity, literal bool) (Triple, error) {
	t := Triple{head, relation, tail, literal}
	for _, part := range []struct {
		of string
		e  *Entity
	}{{"head", &t.Head}, {"relation", &t.Relation}, {"tail", &t.Tail}} {
		l, err := label(part.e.Label)
		if err == nil && part.e.ID == "" {
			err = errors.New("an empty id")
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
