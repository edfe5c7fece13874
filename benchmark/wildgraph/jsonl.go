// SPDX-License-Identifier: Apache-2.0

package wildgraph

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"unicode/utf8"
)

// maxLine bounds one line of a JSON-lines file. The longest released line has
// 86 kB; a line over the bound is a damaged or hostile file.
const maxLine = 16 << 20

// LineError is a problem in one line of a file.
type LineError struct {
	File string
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// readLines decodes every non-empty line of a JSON-lines file into a T. Errors
// are *LineError for what a line holds and *fs.PathError for the file.
func readLines[T any](fsys fs.FS, name string) iter.Seq2[line[T], error] {
	return func(yield func(line[T], error) bool) {
		f, err := openRegular(fsys, name)
		if err != nil {
			yield(line[T]{}, err)
			return
		}
		defer f.Close()
		r := bufio.NewReaderSize(f, 1<<16)
		for n := 1; ; n++ {
			raw, err := readLine(r)
			if errors.Is(err, io.EOF) && len(raw) == 0 {
				return
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(line[T]{}, &LineError{name, n, err})
				return
			}
			if n == 1 {
				raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
			}
			if raw = bytes.TrimSpace(raw); len(raw) == 0 {
				continue
			}
			l := line[T]{Number: n}
			if !utf8.Valid(raw) {
				err = errors.New("not valid UTF-8")
			} else if err = json.Unmarshal(raw, &l.Value); err == nil {
				err = unique(raw)
			}
			if err != nil {
				err = &LineError{name, n, err}
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// openRegular opens a file, and no pipe, device or folder: reading one of those
// may never end.
func openRegular(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file (%s)", name, info.Mode().Type())
	}
	return fsys.Open(name)
}

// unique refuses objects that have a key twice: which of the values is meant, a
// reader could only guess. raw is valid JSON.
func unique(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var keys []map[string]bool // of the open objects; nil for a list
	key := false               // the next text is a key
	for {
		token, err := dec.Token()
		if err != nil { // the end
			return nil
		}
		object := len(keys) > 0 && keys[len(keys)-1] != nil
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				keys = append(keys, make(map[string]bool))
			case '[':
				keys = append(keys, nil)
			default:
				keys = keys[:len(keys)-1]
			}
			key = len(keys) > 0 && keys[len(keys)-1] != nil
			continue
		case string:
			if object && key {
				if keys[len(keys)-1][t] {
					return fmt.Errorf("the key %q stands twice", t)
				}
				keys[len(keys)-1][t] = true
				key = false
				continue
			}
		}
		key = object
	}
}

type line[T any] struct {
	Number int
	Value  T
}

// readLine returns the next line without its end; io.EOF comes with the last.
func readLine(r *bufio.Reader) ([]byte, error) {
	var buf []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(buf)+len(part) > maxLine {
			return nil, fmt.Errorf("line is longer than %d MiB", maxLine>>20)
		}
		buf = append(buf, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return buf, err
	}
}

// stringOrList accepts "a" and ["a", …]: the released files wrap the question
// type into a list of one.
type stringOrList []string

func (s *stringOrList) UnmarshalJSON(data []byte) error {
	var one string
	if err := json.Unmarshal(data, &one); err == nil {
		*s = stringOrList{one}
		return nil
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*s = list
	return nil
}
