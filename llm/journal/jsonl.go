// SPDX-License-Identifier: Apache-2.0

package journal

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

// LineOptions are the options of [ReadLines].
type LineOptions struct {
	// Name is the name of the file in errors.
	Name string
	// MaxLine limits a line or a value, in bytes; 0 is DefaultMaxLine.
	MaxLine int
}

// Line is a value with the number of the line where it begins; the first line is 1.
type Line[T any] struct {
	Number int
	Value  T
}

// LineError is a problem in one line of a file.
type LineError struct {
	File string
	Line int // the first line is 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// OpenFile opens a regular file. Pipes, devices and folders are errors: reading a pipe may never end.
func OpenFile(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err = regular(name, info, err); err != nil {
		return nil, err
	}
	return fsys.Open(name)
}

func (o LineOptions) maxLine() int { return cmp.Or(o.MaxLine, DefaultMaxLine) }

func decode[T any](raw []byte, name string, number int) (Line[T], error) {
	l := Line[T]{Number: number}
	var err error
	if !utf8.Valid(raw) {
		err = errors.New("not valid UTF-8")
	} else if err = json.Unmarshal(raw, &l.Value); err == nil {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		err = keys(dec, names(reflect.TypeFor[T](), nil))
	} else if t := (*json.UnmarshalTypeError)(nil); errors.As(err, &t) {
		err = fmt.Errorf("%s is a JSON %s, want %s", cmp.Or(t.Field, "the value"), t.Value, wanted(t.Type))
	}
	if err != nil {
		return l, &LineError{name, number, err}
	}
	return l, nil
}

// wanted returns the word for a Go type in errors about JSON: a text, a list, an object.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}

// names appends to known the JSON keys that a type decodes, at any depth.
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

// keys refuses objects with a repeated key, and keys that differ from a known one in case only, which
// encoding/json would accept. The next value of dec is valid JSON.
func keys(dec *json.Decoder, known []string) error {
	open, _ := dec.Token()
	if open != json.Delim('{') && open != json.Delim('[') {
		return nil
	}
	seen := make(map[string]bool)
	for dec.More() {
		if open == json.Delim('{') {
			token, _ := dec.Token()
			key, _ := token.(string)
			if seen[key] {
				return fmt.Errorf("the key %q stands twice", key)
			}
			for _, k := range known {
				if k != key && strings.EqualFold(k, key) {
					return fmt.Errorf("the key %q must be written %q", key, k)
				}
			}
			seen[key] = true
		}
		if err := keys(dec, known); err != nil {
			return err
		}
	}
	_, _ = dec.Token() // the closing bracket
	return nil
}

// ReadLines decodes the elements of a JSON array, or a sequence of JSON values. It yields an error for a value that
// is no T and continues with the next one; any other error ends the sequence.
func ReadLines[T any](r io.Reader, o LineOptions) iter.Seq2[Line[T], error] {
	return func(yield func(Line[T], error) bool) {
		in := &lineReader{r: r, o: o}
		dec, array, err := in.open()
		for err == nil && dec.More() {
			in.left = o.maxLine()
			var raw json.RawMessage
			if err = dec.Decode(&raw); err != nil {
				rest, _ := io.ReadAll(dec.Buffered())
				in.lineOf(dec.InputOffset() + int64(len(rest)-len(bytes.TrimLeft(rest, " \t\r\n,"))))
				break
			}
			number := in.lineOf(dec.InputOffset() - int64(len(raw)))
			if !yield(decode[T](raw, o.Name, number)) {
				return
			}
		}
		if err == nil {
			err = in.ended(dec, array)
		}
		if err != nil {
			yield(Line[T]{Number: in.line + 1}, &LineError{o.Name, in.line + 1, err})
		}
	}
}

// lineReader counts lines and fails inside a value that is too long.
type lineReader struct {
	r        io.Reader
	o        LineOptions
	left     int // bytes that may be read before the next value begins
	offset   int64
	newlines []int64 // offsets of the newlines after the last call of lineOf
	line     int     // number of newlines before these
	err      error   // error of the last Read of r
}

func (c *lineReader) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("line is longer than %d MiB", c.o.maxLine()>>20)
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	for i, b := range p[:n] {
		if b == '\n' {
			c.newlines = append(c.newlines, c.offset+int64(i))
		}
	}
	c.offset += int64(n)
	c.left -= n
	c.err = err
	return n, err
}

// lineOf returns the number of the line with the byte at offset. Each call has a higher offset than the last.
func (c *lineReader) lineOf(offset int64) int {
	for len(c.newlines) > 0 && c.newlines[0] < offset {
		c.newlines = c.newlines[1:]
		c.line++
	}
	return c.line + 1
}

// open skips a byte order mark, blanks, and the opening bracket of an array.
func (c *lineReader) open() (dec *json.Decoder, array bool, err error) {
	in := bufio.NewReader(c.r)
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = in.Discard(len(byteOrderMark)) // cannot fail: Peek has read it
	} else if strings.HasPrefix(string(mark), "\xff\xfe") || strings.HasPrefix(string(mark), "\xfe\xff") {
		return nil, false, errors.New("the file is UTF-16: save it as UTF-8")
	}
	next, err := in.Peek(1)
	for ; err == nil && strings.ContainsRune(" \t\r\n", rune(next[0])); next, err = in.Peek(1) {
		if b, _ := in.ReadByte(); b == '\n' { // cannot fail: Peek has read it
			c.line++
		}
	}
	c.r, c.left = in, c.o.maxLine()
	dec = json.NewDecoder(c)
	switch {
	case errors.Is(err, io.EOF):
		return dec, false, nil
	case err == nil && next[0] == '[':
		_, err = dec.Token()
		return dec, true, err
	}
	return dec, false, err
}

// ended returns an error if the array is not closed, or if something follows the last value.
func (c *lineReader) ended(dec *json.Decoder, array bool) error {
	if c.err != nil && !errors.Is(c.err, io.EOF) {
		return c.err
	}
	if array {
		if _, err := dec.Token(); err != nil {
			return errors.New("the array has no end")
		}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the last value")
	}
	return nil
}

// Texts is a text or a list of texts: "a" is read as ["a"].
type Texts []string

// UnmarshalJSON reads a text or a list of texts.
func (t *Texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = Texts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// MaxFile limits the files that are read, in bytes. The largest known one, the training set of HotpotQA, has
// 0.6 GB.
const MaxFile = 1 << 30

// shownProblems is the number of problems that an error about a file lists.
const shownProblems = 5

// EachLine calls take with each value of a file of JSON lines or an array, and with its line number. maxRecord limits
// a value, in bytes; 0 is DefaultMaxLine. One error has the first few problems and the number of the others; a problem
// of one line is a [*LineError].
func EachLine[T any](fsys fs.FS, name string, maxRecord int, take func(line int, value T) error) error {
	f, err := OpenFile(fsys, name)
	if err != nil {
		return err
	}
	defer f.Close() // no error matters: the file is only read
	var problems []error
	for l, err := range ReadLines[T](&CappedReader{R: f, Left: MaxFile}, LineOptions{Name: name, MaxLine: maxRecord}) {
		if err == nil {
			if err = take(l.Number, l.Value); err != nil {
				err = &LineError{File: name, Line: l.Number, Err: err}
			}
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return FirstErrors(problems, shownProblems)
}

// FirstErrors joins the first most errors and counts the rest: a data set that lacks a folder has thousands of
// similar errors.
func FirstErrors(problems []error, most int) error {
	if n := len(problems); n > most {
		problems = append(problems[:most:most], fmt.Errorf("… and %d more problems", n-most))
	}
	return errors.Join(problems...)
}

// CappedReader is a reader that fails after Left bytes.
type CappedReader struct {
	R    io.Reader
	Left int
}

// Read implements [io.Reader].
func (c *CappedReader) Read(p []byte) (int, error) {
	if c.Left <= 0 {
		return 0, fmt.Errorf("the file is larger than %d MiB", MaxFile>>20)
	}
	n, err := c.R.Read(p[:min(len(p), c.Left)])
	c.Left -= n
	return n, err
}
