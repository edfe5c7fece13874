// SPDX-License-Identifier: Apache-2.0

// Package jsonl reads JSON lines from files that somebody else wrote: with
// limits, and with the number of the line in every error.
//
// [Read] takes one value a line and goes on after a bad one, so that all of
// them can be reported. [ReadValues] also takes a JSON array, or values over
// several lines. Both pass over a byte order mark, and refuse what is not
// UTF-8, objects that hold a key twice, and keys in another case: which of the values
// is meant, a reader could only guess.
package jsonl

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// DefaultMaxLine is the largest line that is read, in bytes.
const DefaultMaxLine = 16 << 20

const byteOrderMark = "\ufeff"

// Options of a reader.
type Options struct {
	// Name is the name of the file in errors.
	Name string
	// MaxLine limits a line or a value, in bytes; 0 is DefaultMaxLine.
	MaxLine int
}

// Line is a value with the number of the line it begins in, from 1.
type Line[T any] struct {
	Number int
	Value  T
}

// Error is a problem in one line of a file.
type Error struct {
	File string
	Line int // from 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Open opens a file, and no pipe, device or folder: reading one of those may never
// end.
func Open(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file (%s)", name, info.Mode().Type())
	}
	return fsys.Open(name)
}

// Read decodes every line that is not empty. An error is an [*Error] and comes
// with the number of its line; the lines after it are read as well, unless the
// reader failed or the line is too long.
func Read[T any](r io.Reader, o Options) iter.Seq2[Line[T], error] {
	return func(yield func(Line[T], error) bool) {
		in := bufio.NewReaderSize(r, 1<<16)
		for n := 1; ; n++ {
			raw, err := o.line(in)
			if errors.Is(err, io.EOF) && len(raw) == 0 {
				return
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Line[T]{Number: n}, &Error{o.Name, n, err})
				return
			}
			if n == 1 {
				raw = bytes.TrimPrefix(raw, []byte(byteOrderMark))
			}
			if raw = bytes.TrimSpace(raw); len(raw) == 0 {
				continue
			}
			if !yield(decode[T](raw, o.Name, n)) {
				return
			}
		}
	}
}

// line returns the next line with its end; io.EOF comes with the last.
func (o Options) line(r *bufio.Reader) ([]byte, error) {
	var buf []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(buf)+len(part) > o.maxLine() {
			return nil, o.tooLong()
		}
		buf = append(buf, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return buf, err
	}
}

func (o Options) maxLine() int {
	return cmp.Or(o.MaxLine, DefaultMaxLine)
}

func (o Options) tooLong() error {
	return fmt.Errorf("line is longer than %d MiB", o.maxLine()>>20)
}

func decode[T any](raw []byte, name string, number int) (Line[T], error) {
	l := Line[T]{Number: number}
	var err error
	if !utf8.Valid(raw) {
		err = errors.New("not valid UTF-8")
	} else if err = json.Unmarshal(raw, &l.Value); err == nil {
		err = keys(raw, names(reflect.TypeFor[T](), nil))
	} else if s := (*json.SyntaxError)(nil); errors.As(err, &s) && !json.Valid(raw) {
		err = fmt.Errorf("the line is no whole JSON value (%w): want one on each line, not over several", err)
	}
	if err != nil {
		return l, &Error{name, number, err}
	}
	return l, nil
}

// names are the keys that a type reads, at any depth.
func names(t reflect.Type, known []string) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return names(t.Elem(), known)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" && !slices.Contains(known, name) {
				known = names(f.Type, append(known, name))
			}
		}
	}
	return known
}

// keys refuses objects that hold a key twice, and keys that differ from a known one
// by their case alone: encoding/json takes those for it. raw is valid JSON.
func keys(raw []byte, known []string) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var open []map[string]bool // the keys of the open objects; nil for a list
	key := false               // the next text is a key
	for {
		token, err := dec.Token()
		if err != nil { // the end
			return nil
		}
		object := len(open) > 0 && open[len(open)-1] != nil
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open = append(open, make(map[string]bool))
			case '[':
				open = append(open, nil)
			default:
				open = open[:len(open)-1]
			}
			key = len(open) > 0 && open[len(open)-1] != nil
			continue
		case string:
			if object && key {
				if open[len(open)-1][t] {
					return fmt.Errorf("the key %q stands twice", t)
				}
				for _, k := range known {
					if k != t && strings.EqualFold(k, t) {
						return fmt.Errorf("the key %q must be written %q", t, k)
					}
				}
				open[len(open)-1][t] = true
				key = false
				continue
			}
		}
		key = object
	}
}
