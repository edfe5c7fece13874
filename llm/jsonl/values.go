// SPDX-License-Identifier: Apache-2.0

package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
)

// ReadValues decodes the elements of a JSON array, or values one after another,
// on lines of their own or not. After a value that is no T the next is read;
// anything else that is wrong ends them.
func ReadValues[T any](r io.Reader, o Options) iter.Seq2[Line[T], error] {
	return func(yield func(Line[T], error) bool) {
		in := &counted{r: r, o: o}
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
			yield(Line[T]{Number: in.line + 1}, &Error{o.Name, in.line + 1, err})
		}
	}
}

// counted is a reader that knows where its lines end, and stops within a value
// that is too long.
type counted struct {
	r        io.Reader
	o        Options
	left     int // bytes that may be read before the next value begins
	offset   int64
	newlines []int64 // offsets, of those behind the last question for a line
	line     int     // newlines before that
	err      error   // the last of the reader
}

func (c *counted) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, c.o.tooLong()
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

// lineOf is the number of the line that holds an offset. Offsets ascend.
func (c *counted) lineOf(offset int64) int {
	for len(c.newlines) > 0 && c.newlines[0] < offset {
		c.newlines = c.newlines[1:]
		c.line++
	}
	return c.line + 1
}

// open passes over a byte order mark and blanks, and over the bracket that
// opens an array.
func (c *counted) open() (dec *json.Decoder, array bool, err error) {
	in := bufio.NewReader(c.r)
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = in.Discard(len(byteOrderMark)) // it was just seen
	}
	next, err := in.Peek(1)
	for ; err == nil && strings.ContainsRune(" \t\r\n", rune(next[0])); next, err = in.Peek(1) {
		if b, _ := in.ReadByte(); b == '\n' { // it was just seen
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

// ended checks that nothing is missing and nothing follows.
func (c *counted) ended(dec *json.Decoder, array bool) error {
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
