// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"
	"compress/flate"
	"context"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"

	"github.com/wildgraph/wildgraph/internal/check"
)

// library is the tokenizer whose counts the counter must equal.
func library(tb testing.TB) tokenizer.Codec {
	tb.Helper()
	return check.Of(tokenizer.Get(tokenizer.Cl100kBase)).OK(tb)
}

// oracle returns the ends of the tokens of s by the library.
func oracle(tb testing.TB, codec tokenizer.Codec, s string) []int32 {
	tb.Helper()
	_, tokens, err := codec.Encode(s)
	check.OK(tb, err, "%q", s)
	var ends []int32
	at := 0
	for _, token := range tokens {
		at += len(token)
		ends = append(ends, int32(at))
	}
	return ends
}

func differ(tb testing.TB, c *Counter, codec tokenizer.Codec, s string) {
	tb.Helper()
	want := oracle(tb, codec, s)
	ends := check.Of(c.appendEnds(context.Background(), nil, validated(s))).OK(tb)
	diff := cmp.Diff(want, ends)
	check.Must(tb, diff == "", "%s: ends of the tokens of %.200q (-library +ours):\n%.2000s", codec.GetName(), s, diff)
	got := c.Count(s)
	check.Must(tb, got == len(want), "%s: Count(%.200q) = %d, want %d", codec.GetName(), s, got, len(want))
}

func TestCounterEqualsLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	// Characters near the limits of the character classes, and random ones.
	alphabet := []rune("aAbBsStTlLrRvVeEdDmM'’ \t\r\n\v\f/.,!?-_09½é\u0301Éßǅʰ中の\u00a0\u2003\u0085\u200b😀🏽\U00020000\ufffd")
	random := func(n int) string {
		var b strings.Builder
		for range n {
			if rng.IntN(8) == 0 {
				b.WriteRune(rune(rng.IntN(0x30000)))
			} else {
				b.WriteRune(alphabet[rng.IntN(len(alphabet))])
			}
		}
		return b.String()
	}
	c, codec := Cl100k(), library(t)
	for _, s := range check.Tricky {
		differ(t, c, codec, s)
		differ(t, c, codec, strings.ToUpper(s)+" x "+s+s)
	}
	for range 1500 {
		differ(t, c, codec, random(rng.IntN(40)))
	}
	// Long pieces are merged with a heap.
	for _, unit := range []string{"a", "ab", "=", "-=", "é", "中", "0x", "xyzzy", "Aa", " ", "\n"} {
		differ(t, c, codec, strings.Repeat(unit, 700))
	}
	for range 30 {
		letters := make([]byte, 65+rng.IntN(300))
		for i := range letters {
			letters[i] = "abcdeiorstn"[rng.IntN(11)]
		}
		differ(t, c, codec, string(letters))
	}
}

func TestCounterOnLongRuns(t *testing.T) {
	c := Cl100k()
	// The library takes quadratic time for this text; 8 letters are one token.
	got, want := c.Count(strings.Repeat("a", 80_000)), 80_000/8
	check.Equal(t, got, want, "tokens in 80,000 letters")
	for _, unit := range []string{" ", "\n", "!", "'s", " \n", "1"} {
		check.True(t, c.Count(strings.Repeat(unit, 50_000)) != 0, "no token in a run of %q", unit)
	}
}

// A word of megabytes does not delay the end of a cancelled call.
func TestLongWordEnds(t *testing.T) {
	ctx := check.NewCountdown(2)
	starts, err := Cl100k().Starts(ctx, nil, strings.Repeat("h", 1<<22))
	check.True(t, err != nil && starts == nil, "%d starts, %v", len(starts), err)
	check.True(t, ctx.Looks() <= 2, "%d more looks", ctx.Looks())
	for _, looks := range []int{10, 100, 200} { // cancels while the parts are linked, queued and merged
		ends := Cl100k().v.split(check.NewCountdown(looks), nil, strings.Repeat("h", 1<<20), 0)
		check.Equal(t, len(ends), 0, "after %d looks the %d parts were still gone through", looks, len(ends))
	}
}

var update = flag.Bool("update", false, "write the vocabulary")

// The file has as many of the library's tokens as are published with tiktoken.
func TestVocabulary(t *testing.T) {
	codec := library(t)
	var all []byte
	ids := make(map[string]int32)
	for {
		token, err := codec.Decode([]uint{uint(len(ids))})
		if err != nil {
			break // the id after the last token
		}
		all = append(append(all, byte(len(token))), token...)
		ids[token] = int32(len(ids))
	}
	if *update {
		var packed bytes.Buffer
		w, _ := flate.NewWriter(&packed, flate.BestCompression)
		_, err := w.Write(all)
		check.Must(t, err == nil && w.Close() == nil && os.WriteFile("cl100k_base", packed.Bytes(), 0o644) == nil, "%v", err)
		return
	}
	v := load()
	check.True(t, len(ids) == 100256 && maps.Equal(v.ids, ids), "%d tokens, want 100256", len(v.ids))
}

func FuzzCounter(f *testing.F) {
	for _, s := range check.Tricky {
		f.Add(s)
	}
	codec := library(f)
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 400 {
			return // the library takes quadratic time
		}
		differ(t, Cl100k(), codec, s)
	})
}

func TestCounterEqualsLibraryOnPages(t *testing.T) {
	step := 40
	if os.Getenv("WILDGRAPHBENCH_ALL") != "" {
		step = 1 // all pages: some seconds for a megabyte
	}
	pages := check.Pages(t, step)
	codec := library(t)
	for _, s := range pages {
		differ(t, Cl100k(), codec, s)
	}
	t.Logf("%d pages, %d bytes", len(pages), check.Size(pages))
}
