// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// The largest file that is read, and the largest record of one, in bytes. HotpotQA's
// training set, the largest file of all, has 0.6 GB, and a novel less than 2 MB.
const (
	MaxFile   = 1 << 30
	MaxRecord = 64 << 20
)

// part is what was read of a data set.
type part struct {
	domains []benchmark.Domain
	notes   []string
}

// beside is the name of another file in the folder of one.
func beside(file, name string) string { return path.Join(path.Dir(file), name) }

// records reads the records of a file and hands the value of each to take, with the
// number of its line. Of what is wrong the first few are reported.
func records[T any](fsys fs.FS, file string, take func(line int, value T) error) error {
	f, err := jsonl.Open(fsys, file)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	const most = 5
	var problems []error
	more := 0
	for l, err := range jsonl.ReadValues[T](&capped{r: f, left: MaxFile}, jsonl.Options{Name: file, MaxLine: MaxRecord}) {
		if err == nil {
			if err = take(l.Number, l.Value); err != nil {
				err = &jsonl.Error{File: file, Line: l.Number, Err: err}
			}
		}
		switch {
		case err == nil:
		case len(problems) < most:
			problems = append(problems, err)
		default:
			more++
		}
	}
	if more > 0 {
		problems = append(problems, fmt.Errorf("… and %d more problems of %s", more, file))
	}
	return errors.Join(problems...)
}

// capped is a reader that fails behind its last byte.
type capped struct {
	r    io.Reader
	left int
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("the file is larger than %d MiB", MaxFile>>20)
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// check finds what is wrong with a question of any data set.
func check(set string, it benchmark.Item, seen map[string]bool) error {
	switch {
	case it.Question.ID == "":
		return errors.New("a question without an ID")
	case seen[it.Question.ID]:
		return fmt.Errorf("the ID %.80q stands twice", it.Question.ID)
	case strings.TrimSpace(it.Question.Text) == "":
		return errors.New("the question is empty")
	case strings.TrimSpace(it.Reference) == "":
		return errors.New("a question without an answer: that of a test set?")
	case !known(set, it.Type):
		return fmt.Errorf("%.80q is no type of questions of %s", strings.TrimPrefix(it.Type, set+"-"), set)
	}
	seen[it.Question.ID] = true
	return nil
}
