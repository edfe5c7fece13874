// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

// Span is a piece of a text: the bytes from Start up to End, Tokens units of
// the splitter long.
type Span struct{ Start, End, Tokens int }

// Splitter cuts a text into spans; see the package comment for what holds of
// them. It fails for a text too long to cut (2 GiB) and when ctx is cancelled.
type Splitter interface {
	Split(ctx context.Context, text string) ([]Span, error)
}

// The chunk size of Microsoft GraphRAG and LightRAG, in tokens, and the part
// that two neighbours share.
const (
	DefaultSize    = 1200
	DefaultOverlap = 100
)

// TokenOptions are the options of [Tokens].
type TokenOptions struct {
	// Counter counts the tokens, nil means [tokens.Cl100k].
	Counter *tokens.Counter
	// Size is the length of a window in tokens, 0 means DefaultSize.
	Size int
	// Overlap is what two neighbours share, in tokens, less than Size. 0 means
	// a twelfth of Size (DefaultOverlap for DefaultSize), -1 none.
	Overlap int
}

// Tokens returns a splitter into windows of model tokens. A cut that would
// fall inside a rune is moved to its beginning; Span.Tokens counts the tokens
// of the window in the tokenization of the whole text.
func Tokens(o TokenOptions) (Splitter, error) {
	if o.Size == 0 {
		o.Size = DefaultSize
	}
	switch o.Overlap {
	case 0:
		o.Overlap = o.Size * DefaultOverlap / DefaultSize
	case -1:
		o.Overlap = 0
	}
	return windowsOf(counterOr(o.Counter).Starts, o.Size, o.Overlap)
}

// Words returns a splitter into windows of words, a word being a run of
// characters that are not white space. Window i begins at word
// i*(size-overlap). Span.Tokens counts words.
func Words(size, overlap int) (Splitter, error) {
	return windowsOf(starts(func(rune) bool { return true }), size, overlap)
}

// Pieces returns a splitter into windows of pieces, a piece being a run of
// letters, digits and underscores, or one other character that is not white
// space. 1,200 pieces are close to 1,200 model tokens and need no vocabulary.
// Span.Tokens counts pieces.
func Pieces(size, overlap int) (Splitter, error) {
	joined := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }
	return windowsOf(starts(joined), size, overlap)
}

func windowsOf(starts unitsOf, size, overlap int) (Splitter, error) {
	if err := checkWindow(size, overlap); err != nil {
		return nil, err
	}
	return windows{starts, size, overlap}, nil
}

func counterOr(c *tokens.Counter) *tokens.Counter {
	if c == nil {
		return tokens.Cl100k()
	}
	return c
}

func checkWindow(size, overlap int) error {
	c := opt.Checks{Of: "chunk"}
	opt.Min(&c, "size", size, 1)
	c.Want(overlap >= 0 && overlap < size, "overlap", overlap, fmt.Sprintf("0 or more and less than the size of %d, or the window never moves on", size))
	return c.Err()
}

// checkText refuses what does not fit the 32-bit offsets, and tells whether
// there is anything to cut.
func checkText(s string) (blank bool, err error) {
	if len(s) > math.MaxInt32/3 { // U+FFFD for a bad byte takes three
		return false, fmt.Errorf("chunk: text of %d bytes is too long: cut it into documents of at most %d", len(s), math.MaxInt32/3)
	}
	return strings.TrimSpace(s) == "", nil
}

// unitsOf appends the byte offsets at which the units of a text begin.
type unitsOf func(ctx context.Context, dst []int32, s string) ([]int32, error)

// windows cuts text into windows of a number of units.
type windows struct {
	starts        unitsOf
	size, overlap int
}

// Split implements [Splitter].
func (w windows) Split(ctx context.Context, s string) ([]Span, error) {
	if blank, err := checkText(s); blank || err != nil {
		return nil, err
	}
	starts, err := w.starts(ctx, nil, s)
	if err != nil {
		return nil, err
	}
	units := len(starts)
	starts[0] = 0
	starts = append(starts, int32(len(s)))
	stride := w.size - w.overlap
	spans := make([]Span, 0, 1+max(0, units-w.overlap-1)/stride)
	for first := 0; ; first += stride {
		last := min(first+w.size, units)
		spans = appendSpan(spans, Span{int(starts[first]), int(starts[last]), last - first})
		if last == units {
			return spans, nil // a further window would be overlap only
		}
	}
}

// appendSpan appends a span that reaches further than the last one. Others
// arise when the tokens of one window are all parts of one rune.
func appendSpan(spans []Span, p Span) []Span {
	if n := len(spans); p.End <= p.Start || n > 0 && p.End <= spans[n-1].End {
		return spans
	}
	return append(spans, p)
}

// starts finds where units begin: runs of joined characters, and the other
// characters by themselves, none of white space.
func starts(joined func(rune) bool) unitsOf {
	return func(ctx context.Context, dst []int32, s string) ([]int32, error) {
		inside, look := false, 0
		for i, r := range s {
			if i >= look {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				look = i + stride
			}
			before := inside
			inside = !unicode.IsSpace(r) && joined(r)
			if !unicode.IsSpace(r) && !(before && inside) {
				dst = append(dst, int32(i))
			}
		}
		return dst, nil
	}
}

// stride is the number of bytes between two looks at the context.
const stride = 1 << 20

// SentenceOptions are the options of [Sentences].
type SentenceOptions struct {
	// Counter counts the tokens, nil means [tokens.Cl100k].
	Counter *tokens.Counter
	// MaxTokens bounds the length of a chunk in tokens, 0 means DefaultSize.
	MaxTokens int
}

// Sentences returns a splitter that packs whole sentences, as found by
// [text.Sentences], up to a number of tokens. Only a sentence that is longer
// than that is cut, between tokens. Spans do not overlap; white space goes
// with the sentence before it.
func Sentences(o SentenceOptions) (Splitter, error) {
	if o.MaxTokens == 0 {
		o.MaxTokens = DefaultSize
	}
	c := opt.Checks{Of: "chunk"}
	opt.Min(&c, "MaxTokens", o.MaxTokens, 1)
	if err := c.Err(); err != nil {
		return nil, err
	}
	return packer{counterOr(o.Counter), o.MaxTokens}, nil
}

// packer packs sentences up to max tokens.
type packer struct {
	counter *tokens.Counter
	max     int
}

// Split implements [Splitter].
func (p packer) Split(ctx context.Context, s string) ([]Span, error) {
	if blank, err := checkText(s); blank || err != nil {
		return nil, err
	}
	starts, err := p.counter.Starts(ctx, nil, s)
	if err != nil {
		return nil, err
	}
	starts = append(starts, int32(len(s)))
	all := len(starts) - 1
	var spans []Span
	// The open span goes from start, before token first, to end, before token
	// last: whole sentences, or the rest of a long one.
	start, first, end, last := 0, 0, 0, 0
	flush := func() {
		spans = appendSpan(spans, Span{start, end, max(1, last-first)})
		start, first = end, last
	}
	sentences := text.Sentences(s)
	for i := range sentences {
		next, nextToken := len(s), all // where the sentence after this one begins
		if i+1 < len(sentences) {
			next, nextToken = sentences[i+1].Start, last
			for nextToken < all && int(starts[nextToken+1]) <= next {
				nextToken++
			}
		}
		if nextToken-first > p.max {
			flush()
		}
		for nextToken-first > p.max { // the sentence alone is too long
			last = first + p.max
			end = int(starts[last])
			flush()
		}
		end, last = next, nextToken
	}
	flush()
	return spans, nil
}
