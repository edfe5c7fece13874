// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// Expected by hand, from the rules of BERT's tokenizer.
func TestTokens(t *testing.T) {
	w, pieces := mustOpen(t, tiny(t)).words, tinyPieces(t)
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{" \t\r\n ", ""},
		{"The OWLS hear.", "the owl ##s hear ."},
		{"hearing hunts", "hear ##ing hunt ##s"},
		{"Naïve nai\u0308ve", "naive naive"},
		{"o\u200bw\x00l \u00a0owl", "owl owl"},
		{"barn-owl's", "barn - owl ' s"},
		{"東京owl東", "東 京 owl 東"},
		{"owlx owl", "[UNK] owl"},
		{strings.Repeat("a", 100) + " " + strings.Repeat("a", 101), "a" + strings.Repeat(" ##a", 99) + " [UNK]"},
		{"[SEP]", "[SEP]"},
		{"owl[CLS]owls [sep][", "owl [CLS] owl ##s [UNK] [UNK] [UNK] [UNK]"},
		{"a\xffb", "a ##b"},
	} {
		var got []string
		ids := w.tokens(nil, tt.text, 200, new(letterReader))
		for _, id := range ids[1 : len(ids)-1] {
			got = append(got, pieces[id])
		}
		check.Equal(t, strings.Join(got, " "), tt.want, "%.40q: %v", tt.text, got)
	}
}

func TestCutTokens(t *testing.T) {
	w := mustOpen(t, tiny(t)).words
	whole := w.tokens(nil, "hearing owls", 10, new(letterReader))
	for limit := 2; limit < 6; limit++ {
		want := append(slices.Clone(whole[:limit-1]), whole[len(whole)-1])
		check.Equal(t, w.tokens(nil, "hearing owls"+strings.Repeat(" a", 1000), limit, new(letterReader)), want, "%d tokens", limit)
	}
}

// The tokens that the library tokenizers (0.23.3) makes of the same texts with the
// vocabulary of MiniLM.
func TestTokensOfMiniLM(t *testing.T) {
	dir := os.Getenv("MINILM_DIR")
	if dir == "" {
		t.Skip("MINILM_DIR is not set")
	}
	e := mustOpen(t, dir)
	f := check.Of(os.Open("testdata/tokens.jsonl")).OK(t)
	defer f.Close()
	n := 0
	for in := bufio.NewScanner(f); in.Scan(); n++ {
		var c struct {
			Text string
			IDs  []int32
		}
		check.OK(t, json.Unmarshal(in.Bytes(), &c))
		check.Equal(t, e.words.tokens(nil, c.Text, e.net.tokens, new(letterReader)), c.IDs, "%.60q", c.Text)
	}
	check.True(t, n >= 30, "only %d texts", n)
}
