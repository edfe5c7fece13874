// SPDX-License-Identifier: Apache-2.0

// Package cli reads command lines and reports errors for all programs: one printable
// line for an error, and exit status 64 for a wrong command line.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/graphrag/load/pdf"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// ErrUsage marks errors about the command line.
var ErrUsage = errors.New("wrong command line")

// The exit statuses that all programs share. A program exits with NoAnswer if the files do not answer, and with
// 3 if a run is incomplete. 64 is EX_USAGE of sysexits.h.
const (
	Failed     = 1
	NoAnswer   = 2
	WrongUsage = 64
)

// ErrNoAnswer ends a program whose question the files do not answer, which the program has printed.
var ErrNoAnswer = errors.New("the files do not say")

// usageError matches ErrUsage with errors.Is, and has the message of its cause.
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

// Usagef returns an error about the command line with a formatted message.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// NewFlags returns an empty set of flags for a program. Its -help is [Help].
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

// wanted describes the values that a flag accepts.
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

// TemperatureUsage is the usage of -temperature.
const TemperatureUsage = "`T` of every model call: a number, or none to send none (default 0)"

// Temperature returns the reader of -temperature: 0 to 2, or "none" for nil. The caller sets the default, 0.
func Temperature(to **float64) func(string) error {
	return func(v string) error {
		if *to = nil; v == "none" {
			return nil
		}
		t, err := strconv.ParseFloat(v, 64)
		if err != nil || !(t >= 0 && t <= 2) {
			return errors.New("want a number from 0 to 2, or none")
		}
		*to = &t
		return nil
	}
}

// Settings returns the defaults of every call of a model: the temperature and the seed.
func Settings(temperature *float64, seed uint64) llm.Request {
	s := int64(seed & math.MaxInt64)
	return llm.Request{Temperature: temperature, Seed: &s}
}

// Nearest returns the name that was probably meant by a word: a name that begins with the word, that the word
// begins with, or at an edit distance of at most 2; "" if there is none.
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

// distance returns the edit distance (Levenshtein) in bytes.
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
		fmt.Fprintf(w, "%s: %s\nRun with -help for the flags.\n", program, display.Printable(err.Error()))
		return WrongUsage
	}
	fmt.Fprintf(w, "%s: %s\n", program, display.Printable(err.Error()))
	return Failed
}

// Group is a part of the list of flags.
type Group struct {
	Title string
	Flags []string
}

// The width of a line in a list of flags, and of the column with the names, in characters.
const (
	lineWidth = 96
	nameWidth = 25
)

// servers has, for each kind of model server, a line that users can copy.
const servers = `
Model servers, by variables of the environment:
  export OPENAI_API_KEY=sk-...                       # OpenAI
  export OPENAI_BASE_URL=http://localhost:8000/v1    # vLLM: vllm serve NAME
  export OPENAI_BASE_URL=http://localhost:8080/v1    # llama.cpp: llama-server -m FILE
  export OLLAMA_HOST=http://localhost:11434          # Ollama: ollama pull NAME
Anthropic, Gemini, Mistral, Bedrock, Azure: examples/vendors.
`

// Help writes the purpose of a program and its flags by group; flags without a group come last. A
// program with the flag -model gets the list of model servers too.
func Help(w io.Writer, fs *flag.FlagSet, about string, groups ...Group) {
	fmt.Fprintf(w, "Usage: %s [flags]\n", fs.Name())
	if about != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(about))
	}
	other := Group{Title: "Other"}
	if len(groups) == 0 {
		other.Title = "Flags"
	}
	fs.VisitAll(func(f *flag.Flag) {
		if !slices.ContainsFunc(groups, func(g Group) bool { return slices.Contains(g.Flags, f.Name) }) {
			other.Flags = append(other.Flags, f.Name)
		}
	})
	for _, g := range append(slices.Clone(groups), other) {
		if len(g.Flags) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", g.Title)
		for _, name := range g.Flags {
			if f := fs.Lookup(name); f != nil {
				helpFlag(w, f)
			}
		}
	}
	if fs.Lookup("model") != nil {
		fmt.Fprint(w, servers)
	}
}

// helpFlag writes the name of a flag and its usage, in two columns.
func helpFlag(w io.Writer, f *flag.Flag) {
	value, usage := flag.UnquoteUsage(f)
	left := strings.TrimRight("  -"+f.Name+" "+value, " ")
	if d := f.DefValue; !slices.Contains([]string{"", "0", "false"}, d) && !strings.Contains(usage, "default") {
		usage += fmt.Sprintf(" (default %s)", d)
	}
	if utf8.RuneCountInString(left) > nameWidth-2 {
		fmt.Fprintln(w, left)
		left = ""
	}
	line := fmt.Sprintf("%-*s", nameWidth, left)
	for i, word := range strings.Fields(usage) {
		if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > lineWidth {
			fmt.Fprintln(w, line)
			line = strings.Repeat(" ", nameWidth)
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}

const (
	everyLine = 10 * time.Second // least time between two lines with the same message
	longest   = 500              // largest length of a value in bytes
)

// NewLogger returns a logger that writes warnings and errors to w, a line each. A repeated message gets one
// line in ten seconds, which says how many were left out.
func NewLogger(w io.Writer) *slog.Logger {
	return slog.New(&lineHandler{w: w, said: map[string]*messageState{}})
}

type lineHandler struct {
	w    io.Writer
	mu   sync.Mutex
	said map[string]*messageState
}

// messageState counts how often a message was repeated since it was last written.
type messageState struct {
	at   time.Time
	left int
}

func (l *lineHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}
func (l *lineHandler) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *lineHandler) WithGroup(string) slog.Handler      { return l }

func (l *lineHandler) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.said[r.Message]
	if s == nil {
		s = &messageState{}
		l.said[r.Message] = s
	}
	if r.Time.Sub(s.at) < everyLine {
		s.left++
		return nil
	}
	var b strings.Builder
	b.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		value := a.Value.String()
		if a.Value.Kind() == slog.KindDuration {
			value = a.Value.Duration().Round(100 * time.Millisecond).String()
		}
		if len(value) > longest {
			value = strings.ToValidUTF8(value[:longest], "") + "…"
		}
		fmt.Fprintf(&b, ", %s: %s", strings.ReplaceAll(a.Key, "_", " "), value)
		return true
	})
	if s.left > 0 {
		fmt.Fprintf(&b, " (and %d times before)", s.left)
	}
	s.at, s.left = r.Time, 0
	_, err := fmt.Fprintln(l.w, strings.Join(strings.Fields(display.Printable(b.String())), " "))
	return err
}

// Files reads documents in the formats of graphrag/load and load/office, and PDF. The parser of PDF is compiled
// once and kept in the user's cache folder.
type Files struct {
	load.Options
	pdf *pdf.Reader
}

// NewFiles returns a reader of files. Close it after use.
func NewFiles() *Files {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = "" // without a cache each process compiles the parser
	} else {
		cache = filepath.Join(cache, "wildgraph", "pdf")
	}
	f := &Files{pdf: pdf.New(pdf.Options{Cache: cache})}
	f.Formats = office.Formats()
	f.Formats[".pdf"] = f.pdf.Read
	return f
}

// Close stops the parser of PDF.
func (f *Files) Close() error { return f.pdf.Close() }

// LedgerName is the file, in the folder of a run, with the calls that were paid for, by stage, question and
// model, and with the calls of unknown cost. Calls that were repeated after an interruption count twice, so it
// is not part of the report.
const LedgerName = "ledger.json"

// Account writes the ledger of a run into its folder and prints its total.
func Account(c *paid.Client, dir string, w io.Writer) error {
	a := c.Account()
	name := filepath.Join(dir, LedgerName)
	err := journal.WriteFile(name, func(w io.Writer) error {
		enc := display.JSON(w)
		enc.SetIndent("", "  ")
		return enc.Encode(a)
	})
	if err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	_, err = fmt.Fprintf(w, "Paid for this folder: %s See %s.\n", display.OneLine(Bill(a)), display.OneLine(name))
	return err
}

// Bill describes the total of an account in one or two sentences.
func Bill(a paid.Account) string {
	price := "no prices given"
	if a.Currency != "" {
		price = fmt.Sprintf("cost %s %s", a.Total.Cost, a.Currency)
	}
	bill := fmt.Sprintf("%s calls, %s tokens; %s.", display.Digits(a.Total.Usage.Calls), display.Digits(a.Total.Usage.Tokens()), price)
	if n := a.Total.Unknown; n > 0 {
		bill += fmt.Sprintf(" %s more attempts may have been billed, with which it is %s tokens at the most.", display.Digits(n), display.Digits(a.Total.Most.Tokens()))
	}
	return bill
}

// Prices reads the file of -prices; nil for "".
func Prices(file string) (*paid.Prices, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("-prices: %w", err)
	}
	defer f.Close() // closing a file that was only read cannot lose data
	p, err := paid.ReadPrices(f)
	if err != nil {
		return nil, fmt.Errorf("-prices %s: %w", file, err)
	}
	return p, nil
}

// OpenModel opens a model with a vendor's client, or from the server that the environment names. At most calls
// calls run at once. The returned client pays for the calls; close it after use.
func OpenModel(name string, calls int, o paid.Options) (*paid.Client, llm.Model, error) {
	by := transport.Options{Concurrency: calls, Logger: o.Logger}
	server, err := transport.ProviderFromEnv(by)
	if err != nil && !OfVendors(name) {
		return nil, nil, Usagef("-model: %w", err)
	}
	if o.Run, err = filepath.Abs(o.Run); err != nil {
		return nil, nil, err
	}
	client, err := paid.Open(o)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the cache of replies: %w", err)
	}
	m, err := Model(name, server, by)
	if err == nil {
		m, err = client.Model(m)
	}
	if err != nil {
		return nil, nil, errors.Join(Usage(err), client.Close())
	}
	return client, m, nil
}

// Vendors maps a prefix of model names ("anthropic" of anthropic:NAME) to the function that opens models with
// the vendor's client; requests use the transport. Only examples/vendors sets it, before a program runs.
var Vendors = map[string]func(model string, by *transport.Transport) (llm.Model, error){}

// OfVendors reports whether all names, except empty ones, have a prefix in Vendors.
func OfVendors(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		vendor, _, _ := strings.Cut(name, ":")
		return name != "" && Vendors[vendor] == nil
	})
}

// Model opens a model of Vendors, or from the server that the environment names.
func Model(name string, server *transport.Provider, o transport.Options) (llm.Model, error) {
	vendor, model, _ := strings.Cut(name, ":")
	if open := Vendors[vendor]; open != nil {
		by, err := transport.New(o)
		if err != nil {
			return nil, err
		}
		return open(model, by)
	}
	if server == nil {
		return nil, transport.ErrNoProvider
	}
	return server.Model(name)
}
