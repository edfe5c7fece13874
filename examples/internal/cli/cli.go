// SPDX-License-Identifier: Apache-2.0

// Package cli reads command lines and reports errors for all programs: one printable
// line for an error, and exit status 64 for a wrong command line.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
)

// ErrUsage marks errors about the command line.
var ErrUsage = errors.New("wrong command line")

// The exit statuses that all programs share. Ask exits with [NoAnswer], an incomplete run
// with 3. 64 is EX_USAGE of sysexits.h.
const (
	Failed     = 1
	NoAnswer   = 2
	WrongUsage = 64
)

// ErrNoAnswer ends a program whose question the files do not answer. The program has printed that.
var ErrNoAnswer = errors.New("the files do not say")

// usageError matches ErrUsage and has the message of its cause.
type usageError struct{ cause error }

func (e usageError) Error() string        { return e.cause.Error() }
func (e usageError) Unwrap() error        { return e.cause }
func (e usageError) Is(target error) bool { return target == ErrUsage }

// Usage marks an error as one about the command line; nil stays nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// Usagef is an error about the command line.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// NewFlags is an empty set of flags of a program, whose -help is [Help].
func NewFlags(program string) *flag.FlagSet {
	fs := flag.NewFlagSet(program, flag.ContinueOnError)
	fs.Usage = func() { Help(fs.Output(), fs, "") }
	return fs
}

// Parse reads the flags. An error comes without the list of all flags. -help writes that list to w
// and returns flag.ErrHelp.
func Parse(fs *flag.FlagSet, args []string, w io.Writer) error {
	help := fs.Usage
	fs.Usage = func() {}
	fs.SetOutput(io.Discard)
	err := fs.Parse(args)
	fs.SetOutput(w)
	switch {
	case errors.Is(err, flag.ErrHelp):
		help()
		return err
	case err != nil:
		return Usage(explain(fs, err))
	}
	return nil
}

// explain rewrites an error of package flag: it names the flag, the value and the values allowed.
func explain(fs *flag.FlagSet, err error) error {
	said := err.Error()
	if name, ok := strings.CutPrefix(said, "flag provided but not defined: -"); ok {
		var names []string
		fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		if meant := Nearest(name, names); meant != "" {
			return fmt.Errorf("there is no flag -%s; did you mean -%s?", name, meant)
		}
		return fmt.Errorf("there is no flag -%s", name)
	}
	if name, ok := strings.CutPrefix(said, "flag needs an argument: -"); ok {
		return fmt.Errorf("-%s has no value: %s", name, wanted(fs.Lookup(name)))
	}
	m := badValue.FindStringSubmatch(said)
	if m == nil {
		return err
	}
	if m[3] == "parse error" || m[3] == "value out of range" {
		m[3] = wanted(fs.Lookup(m[2]))
	}
	return fmt.Errorf("-%s %s: %s", m[2], m[1], m[3])
}

// badValue matches the error of package flag for a value: the value, the flag, and the reason.
var badValue = regexp.MustCompile(`(?s)^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-([^:]+): (.*)$`)

// wanted describes the values that a flag takes.
func wanted(f *flag.Flag) string {
	if g, ok := f.Value.(flag.Getter); ok {
		switch g.Get().(type) {
		case bool:
			return "want true or false"
		case int:
			return "want a whole number"
		case uint64:
			return "want a whole number from 0 on"
		case float64:
			return "want a number"
		case time.Duration:
			return "want a time such as 500ms or 2s"
		}
	}
	value, usage := flag.UnquoteUsage(f)
	return "want " + strings.ToUpper(value) + ", " + usage
}

// Temperature declares the flag -temperature: 0 to 2, by default 0, or nil for "none".
func Temperature(fs *flag.FlagSet, to **float64) {
	*to = new(float64)
	fs.Func("temperature", "`T` of every model call: a number, or none to send none (default 0)", func(v string) error {
		if *to = nil; v == "none" {
			return nil
		}
		t, err := strconv.ParseFloat(v, 64)
		if err != nil || !(t >= 0 && t <= 2) {
			return errors.New("want a number from 0 to 2, or none")
		}
		*to = &t
		return nil
	})
}

// Settings returns the defaults of every call of a model: the temperature and the seed.
func Settings(temperature *float64, seed uint64) llm.Request {
	s := int64(seed & math.MaxInt64)
	return llm.Request{Temperature: temperature, Seed: &s}
}

// Nearest returns the name that was probably meant by a word: a name that begins with the word or
// begins it, or one at an edit distance of at most 2; "" without one.
func Nearest(word string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		d := distance(strings.ToLower(word), strings.ToLower(n))
		if len(word) > 2 && (strings.HasPrefix(n, word) || strings.HasPrefix(word, n)) {
			d = min(d, 2)
		}
		if d < least && d < len(n) {
			best, least = n, d
		}
	}
	return best
}

// distance is the edit distance (Levenshtein) in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, corner+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// Fail prints why a program ends and returns its exit status. It prints nothing for nil, for
// flag.ErrHelp (both 0) and for [ErrNoAnswer].
func Fail(w io.Writer, program string, err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, ErrNoAnswer):
		return NoAnswer
	case errors.Is(err, ErrUsage):
		fmt.Fprintf(w, "%s: %s\nRun with -help for the flags.\n", program, text.Printable(err.Error()))
		return WrongUsage
	}
	fmt.Fprintf(w, "%s: %s\n", program, text.Printable(err.Error()))
	return Failed
}
