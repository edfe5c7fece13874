// SPDX-License-Identifier: Apache-2.0

// Package check has what tests share: assertions, texts, and contexts that are cancelled.
//
// A failed assertion reports the line of its caller. Its last arguments, a format and values, say what was
// tested.
package check

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// OK ends the test if there is an error.
func OK(tb testing.TB, err error, about ...any) {
	if err != nil {
		tb.Helper()
		tb.Fatal(label(about) + err.Error())
	}
}

// Equal fails the test if got differs from want. Values are equal if [reflect.DeepEqual] or [cmp.Equal] says
// so; unexported fields count.
func Equal[T any](tb testing.TB, got, want T, about ...any) {
	if reflect.DeepEqual(got, want) {
		return
	}
	diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true }))
	if diff == "" {
		return
	}
	tb.Helper()
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Slice, reflect.Map, reflect.Struct, reflect.Array:
		tb.Errorf("%sgot %+v, want %+v\n(-want +got):\n%s", label(about), got, want, diff)
	default:
		tb.Errorf("%sgot %#v, want %#v", label(about), got, want)
	}
}

// Err returns the error of a call that returns a value and an error.
func Err[T any](_ T, err error) error { return err }

// Is fails the test if the error does not match the target by [errors.Is].
func Is(tb testing.TB, err, target error, about ...any) {
	if !errors.Is(err, target) {
		tb.Helper()
		tb.Errorf("%sgot the error %v, want %v", label(about), err, target)
	}
}

// Fails fails the test if there is no error, or its message does not contain the text.
func Fails(tb testing.TB, err error, text string, about ...any) {
	if err == nil || !strings.Contains(err.Error(), text) {
		tb.Helper()
		tb.Errorf("%sgot the error %v, want one that contains %q", label(about), err, text)
	}
}

// Contains fails the test if the text does not contain the part.
func Contains[T ~string | ~[]byte](tb testing.TB, text T, part string, about ...any) {
	if !strings.Contains(string(text), part) {
		tb.Helper()
		tb.Errorf("%sno %q in\n%s", label(about), part, text)
	}
}

// True fails the test if a condition is false; the format says what was tested.
func True(tb testing.TB, holds bool, format string, args ...any) {
	if !holds {
		tb.Helper()
		tb.Errorf(format, args...)
	}
}

// Must ends the test if a condition is false.
func Must(tb testing.TB, holds bool, format string, args ...any) {
	if !holds {
		tb.Helper()
		tb.Fatalf(format, args...)
	}
}

// Long skips a test that takes seconds or starts the go command, unless WILDGRAPH_LONG or one of the given
// environment variables is set.
func Long(tb testing.TB, variables ...string) {
	for _, v := range append(variables, "WILDGRAPH_LONG") {
		if os.Getenv(v) != "" {
			return
		}
	}
	tb.Helper()
	tb.Skip("takes long: set WILDGRAPH_LONG, as .ci/run does")
}

// label returns the description of what was tested, followed by a colon.
func label(about []any) string {
	if len(about) == 0 {
		return ""
	}
	return fmt.Sprintf(about[0].(string), about[1:]...) + ": "
}

// Result is the value of a call and its error.
type Result[T any] struct {
	value T
	err   error
}

// Of returns the result of a call, as in check.Of(os.ReadFile(name)).OK(t).
func Of[T any](value T, err error) Result[T] { return Result[T]{value, err} }

// OK returns the value; it ends the test if there is an error.
func (r Result[T]) OK(tb testing.TB, about ...any) T {
	if r.err != nil {
		tb.Helper()
		tb.Fatal(label(about) + r.err.Error())
	}
	return r.value
}

// Tricky are texts that are hard to split into words: at the limits of the patterns of tokenizers.
var Tricky = []string{
	"", " ", "  ", "\n", " \n", "\n ", " \n ", "a  b", "a \n b", "a\n\n  b", "\t\tx", "\r\n\r\nx", "x   ", "x \t\n\n\t y", "\u00a0\u00a0x", "\u2003 x", "\u0085\u0085y",
	"I'm he's WE'LL they'Ve 'S 'x 're'", "'s", "''s", "x'", "'ſ", "don't'd", "İ'S", "ǅungla", "ʰa", "ªº",
	"1234567", "12 345 6", "٣٤٥٦", "½ ²³", "Ⅷ", "3.14", "$1,000.00/year",
	"!!!\n\n", " !?\r\n/", "//\n//x", "a/b/c", "--- | --- |", "```go\nx := 1\n```", "#include <a>", "a_b __init__",
	"CamelCaseWord XMLHttpRequest iPhone McDonald ABCdef ABc", "HELLO'S World'S", "日本語テスト。カタカナ", "中文字符，标点！", "한국어 텍스트", "русский Текст", "Ελληνικά", "עברית", "العربية", "हिन्दी पाठ", "ไทย",
	"e\u0301a\u0301 \u0301x \u0301\u0301 A\u0301B !\u0301 1\u0301", "ÀÉÎ àéî ÀàÉé", "ﬁ ﬀ", "👨‍👩‍👧 🇩🇪 👍🏽", "𝒜𝓫𝟙 𐐀𐐨 \U00020000",
	"<|endoftext|> <|fim_prefix|> <|endofprompt|>", "\x00\x01\x7f", "\u200b\u200dx", "\ufeffbom", "\ufffd",
	"https://en.wikipedia.org/wiki/World_War_II?a=b&c=%20#d", "[x](https://a.b/c)\n\n* y", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"a\xffb", "\xff\xfe", "\xe4\xb8", "x\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80y",
	"antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis Donaudampfschifffahrtsgesellschaftskapitän",
	"QmFzZTY0IGVuY29kZWQgc3RyaW5nIHdpdGggbm8gc3BhY2VzIGF0IGFsbCwgd2hpY2ggaXMgbG9uZ2VyIHRoYW4gc2l4dHkgZm91ciBieXRlcw==",
}

// Pages returns every n-th page of a WildGraphBench checkout, the folder
// WILDGRAPHBENCH_DIR, and skips the test without it.
func Pages(tb testing.TB, n int) []string {
	tb.Helper()
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		tb.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	files := Of(filepath.Glob(filepath.Join(dir, "corpus", "*", "*", "reference_pages", "*.txt"))).OK(tb)
	Must(tb, len(files) > 0, "no pages in WILDGRAPHBENCH_DIR=%s", dir)
	slices.Sort(files)
	var pages []string
	for i := 0; i < len(files); i += n {
		pages = append(pages, string(Of(os.ReadFile(files[i])).OK(tb)))
	}
	return pages
}

// Size returns the number of bytes of all pages.
func Size(pages []string) (n int64) {
	for _, s := range pages {
		n += int64(len(s))
	}
	return n
}

// Generated returns a text of random words, of at least n bytes, for benchmarks that need no data set.
func Generated(n int) string {
	rng := rand.New(rand.NewPCG(7, 8))
	words := strings.Fields("the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two may first then do any like my now over such our man me even most made after also did many off before must well back through years much where your way down should because long each just state those people too mr how little good world make very year still see own work men day get here between both life being under three never know same last another while us might great go come since against right came take used himself few house use place during high without again home around small however found mrs part school thought went say general once upon war every don't does got united left number until always away something fact water less public put think almost hand enough far took head yet better government system 1945 2022 xylophonist Bloemfontein https://example.org/wiki/Page_1")
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[min(rng.IntN(len(words)), rng.IntN(len(words)))])
		if rng.IntN(12) == 0 {
			b.WriteString(".\n\n"[:1+rng.IntN(3)])
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// Countdown is a context that is cancelled after n calls of Err: it shows, without a clock, whether long work
// asks for cancellation often enough.
type Countdown struct {
	context.Context
	left atomic.Int64
}

// NewCountdown returns a context whose first n calls of Err return nil.
func NewCountdown(n int) *Countdown {
	c := &Countdown{Context: context.Background()}
	c.left.Store(int64(n))
	return c
}

// Err returns nil for the first n calls, then [context.Canceled].
func (c *Countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Looks returns the number of calls of Err after the first n.
func (c *Countdown) Looks() int { return int(max(0, -c.left.Load())) }

// Rows reads a file of test data: the cells of a line are quoted Go strings.
func Rows(tb testing.TB, name string) (rows [][]string) {
	for line := range strings.Lines(string(Of(os.ReadFile(name)).OK(tb))) {
		var row []string
		for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
			cell := Of(strconv.QuotedPrefix(line)).OK(tb, "%s: %s", name, line)
			row = append(row, Of(strconv.Unquote(cell)).OK(tb))
			line = line[len(cell):]
		}
		rows = append(rows, row)
	}
	return rows
}
