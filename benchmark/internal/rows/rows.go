// SPDX-License-Identifier: Apache-2.0

// Package rows reads the records of files of data sets.
package rows

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// MaxFile is the largest file that is read, in bytes. HotpotQA's training set, the largest of
// all, has 0.6 GB.
const MaxFile = 1 << 30

// most is how many problems of a file are told.
const most = 5

// Each hands the values of a file, JSON lines or an array, to take, each with its line. All
// problems are told together, the first few in full; those of a record are [*jsonl.Error].
func Each[T any](fsys fs.FS, name string, maxRecord int, take func(line int, value T) error) error {
	f, err := jsonl.Open(fsys, name)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	var problems []error
	for l, err := range jsonl.ReadValues[T](&Capped{R: f, Left: MaxFile}, jsonl.Options{Name: name, MaxLine: maxRecord}) {
		if err == nil {
			if err = take(l.Number, l.Value); err != nil {
				err = &jsonl.Error{File: name, Line: l.Number, Err: err}
			}
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return Some(problems, most)
}

// Some joins errors, the first few in full: a data set that lacks a folder has thousands of
// the same.
func Some(problems []error, most int) error {
	if n := len(problems); n > most {
		problems = append(problems[:most:most], fmt.Errorf("… and %d more problems", n-most))
	}
	return errors.Join(problems...)
}

// Capped is a reader that fails behind its last byte.
type Capped struct {
	R    io.Reader
	Left int
}

// Read implements [io.Reader].
func (c *Capped) Read(p []byte) (int, error) {
	if c.Left <= 0 {
		return 0, fmt.Errorf("the file is larger than %d MiB", MaxFile>>20)
	}
	n, err := c.R.Read(p[:min(len(p), c.Left)])
	c.Left -= n
	return n, err
}
