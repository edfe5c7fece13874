// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/internal/codec"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

// DefaultMaxName is the length in bytes up to which a text is taken for a name
// (LightRAG cuts at 512, lightrag/constants.py; we do not cut: two long names
// with one beginning are two).
const DefaultMaxName = 512

// Options of a [Base].
type Options struct {
	// Folding tells which names are one, by default FoldUnicode.
	Folding Folding
	// MaxName is the length of the longest name in bytes, 0 for DefaultMaxName.
	// What is longer is no name and gets into Graph.Rejected.
	MaxName int
	// OnlyDescribed leaves out names that no chunk describes or types, and facts
	// about them: those that a model relates and does not list.
	OnlyDescribed bool
}

func (o Options) withDefaults() (Options, error) {
	o.Folding, o.MaxName = cmp.Or(o.Folding, FoldUnicode), cmp.Or(o.MaxName, DefaultMaxName)
	checks := opt.Checks{Of: "kg"}
	checks.Want(o.Folding == FoldUnicode || o.Folding == FoldASCII, "Folding", strconv.Quote(string(o.Folding)), fmt.Sprintf("%q or %q", FoldUnicode, FoldASCII))
	opt.Range(&checks, "MaxName", o.MaxName, 1, math.MaxInt32)
	return o, checks.Err()
}

// Base is the extractions by chunk. Insert and Delete change it, [Base.Graph] makes the
// graph of it. It is safe for concurrent use.
type Base struct {
	opts Options

	mu     sync.Mutex
	chunks map[string]packed
	graph  *Graph // of the state as it is, or nil
	// changes counts how often there was another state.
	changes int
}

// NewBase returns an empty base.
func NewBase(opts Options) (*Base, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Base{opts: opts, chunks: make(map[string]packed)}, nil
}

// Insert adds extractions. One of a chunk that is there already takes its
// place, so inserting twice is inserting once. If one has no chunk or document,
// two are of one chunk, or a weight is negative or not finite, none is added.
// Bytes that are not UTF-8 become U+FFFD.
func (b *Base) Insert(extractions ...Extraction) error {
	var problems []error
	seen := make(map[string]bool, len(extractions))
	for i, x := range extractions {
		switch {
		case x.Chunk == "" || x.Doc == "":
			problems = append(problems, fmt.Errorf("kg: extraction %d: the ID of its chunk (%q) or document (%q) is missing", i, x.Chunk, x.Doc))
		case seen[x.Chunk]:
			problems = append(problems, fmt.Errorf("kg: extraction %d: a second one of chunk %q", i, x.Chunk))
		}
		seen[x.Chunk] = true
		for _, f := range x.Facts {
			if !(f.Weight >= 0) || math.IsInf(f.Weight, 1) {
				problems = append(problems, fmt.Errorf("kg: chunk %q: the weight %v of %q – %q is not a finite number of 0 or more", x.Chunk, f.Weight, f.Head, f.Tail))
			}
		}
	}
	if problems != nil {
		return errors.Join(problems...)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := newPacker()
	for i := range extractions {
		b.chunks[extractions[i].Chunk] = p.pack(&extractions[i])
		b.changed()
	}
	return nil
}

// Delete removes all that the documents said, and returns the number of chunks
// that are gone. What other documents say too stays.
func (b *Base) Delete(docs ...string) int {
	gone := make(map[string]bool, len(docs))
	for _, d := range docs {
		gone[d] = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.chunks)
	maps.DeleteFunc(b.chunks, func(_ string, x packed) bool { return gone[x.doc] })
	if before != len(b.chunks) {
		b.changed()
	}
	return before - len(b.chunks)
}

// changed forgets the graph. The lock is held.
func (b *Base) changed() {
	b.graph = nil
	b.changes++
}

// Clone returns a copy that changes on its own.
func (b *Base) Clone() *Base {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &Base{opts: b.opts, chunks: maps.Clone(b.chunks), graph: b.graph, changes: b.changes}
}

// Len returns the number of chunks.
func (b *Base) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.chunks)
}

// Extractions yields what was inserted, sorted by chunk, as it was when the
// iteration began.
func (b *Base) Extractions() iter.Seq[Extraction] {
	return func(yield func(Extraction) bool) {
		b.mu.Lock()
		chunks := maps.Clone(b.chunks)
		b.mu.Unlock()
		var u unpacker
		for _, id := range slices.Sorted(maps.Keys(chunks)) {
			var x Extraction
			p := chunks[id]
			if p.into(&u, id, &x); !yield(x) {
				return
			}
		}
	}
}

// Graph makes the graph of all extractions. It is kept until the base changes; the only
// error is the context's.
func (b *Base) Graph(ctx context.Context) (*Graph, error) {
	now := b.Clone() // others may change b meanwhile
	if now.graph != nil {
		return now.graph, nil
	}
	g, err := build(ctx, b.opts, now.chunks)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changes == now.changes {
		b.graph = g
	}
	return g, nil
}

// A saved base is its options and its extractions sorted by chunk.

const (
	fileKind    = "WGKNOWL"
	fileVersion = 3
	maxRecord   = 64 << 20 // bytes
	maxRecords  = 1 << 32
)

// ErrFormat is wrapped by the errors of [Read] for files that are not a base, not
// whole, damaged or of another version.
var ErrFormat = codec.ErrFormat

// ErrOptions is wrapped by the errors of [Read] for a base that was saved with
// other options.
var ErrOptions = errors.New("the base was saved with other options")

// WriteTo writes the base. Equal bases give equal bytes. It implements
// [io.WriterTo].
func (b *Base) WriteTo(to io.Writer) (int64, error) {
	now := b.Clone()
	w := codec.NewWriter(to, fileKind, fileVersion)
	w.String(string(now.opts.Folding))
	w.Uint(uint64(now.opts.MaxName))
	w.Uint(uint64(len(now.chunks)))
	var problems []error
	for x := range now.Extractions() {
		data, err := json.Marshal(x)
		problems = append(problems, err)
		w.Bytes(data)
	}
	n, err := w.Close()
	return n, errors.Join(append(problems, err)...)
}

// Read reads what WriteTo wrote. The options must be those it was saved with.
func Read(from io.Reader, opts Options) (*Base, error) {
	b, err := NewBase(opts)
	if err != nil {
		return nil, err
	}
	r := codec.NewReader(from, fileKind, fileVersion)
	text := func() string { return string(r.Bytes(nil, maxRecord)) }
	folding, maxName := Folding(text()), r.Uint(maxRecord)
	if r.Err() == nil && (folding != b.opts.Folding || maxName != uint64(b.opts.MaxName)) {
		return nil, fmt.Errorf("kg: %w: folding %q and names of up to %d bytes there, %q and %d here", ErrOptions, folding, maxName, b.opts.Folding, b.opts.MaxName)
	}
	for n := r.Uint(maxRecords); n > 0 && r.Err() == nil; n-- {
		var x Extraction
		data := r.Bytes(nil, maxRecord)
		if r.Err() != nil {
			break
		}
		err := json.Unmarshal(data, &x)
		if _, twice := b.chunks[x.Chunk]; twice {
			err = errors.New("a second extraction of its chunk")
		}
		if err = errors.Join(err, b.Insert(x)); err != nil {
			r.Fail("extraction of %q: %v", x.Chunk, err)
		}
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("kg: %w", err)
	}
	return b, nil
}

// packed is an extraction as a base keeps it, in a quarter of the memory: each name, type
// and label once for the chunk, and numbers in as many bytes as they need. Descriptions
// stay as they are, because those of the rules are parts of the chunk's text.
type packed struct {
	doc   string
	texts []string // descriptions, each once
	bytes string   // names and other short texts; then numbers, which count both from 1
}

// packer packs one extraction after the other.
type packer struct {
	names, texts table
	numbers      []byte
}

// table numbers strings from 1; 0 is the empty one.
type table struct {
	at   map[string]int
	list []string
}

func newPacker() *packer {
	return &packer{names: table{at: make(map[string]int)}, texts: table{at: make(map[string]int)}}
}

// add also makes a string valid UTF-8: what is saved must come back as it was.
func (t *table) add(s string) int {
	if s == "" {
		return 0
	}
	n, ok := t.at[s]
	if !ok {
		t.list = append(t.list, strings.ToValidUTF8(s, "\uFFFD"))
		n = len(t.list)
		t.at[s] = n
	}
	return n
}

func (t *table) reset() {
	clear(t.at)
	t.list = t.list[:0]
}

func (p *packer) uint(n int)    { p.numbers = binary.AppendUvarint(p.numbers, uint64(n)) }
func (p *packer) name(s string) { p.uint(p.names.add(s)) }
func (p *packer) text(s string) { p.uint(p.texts.add(s)) }
func (p *packer) signed(n int)  { p.numbers = binary.AppendVarint(p.numbers, int64(n)) }
func (p *packer) span(s Span)   { p.signed(s.Start); p.signed(s.End - s.Start) }
func (p *packer) float(x float64) { // the last bytes of most are 0
	p.numbers = binary.AppendUvarint(p.numbers, bits.ReverseBytes64(math.Float64bits(x)))
}

// pack does not keep x.
func (p *packer) pack(x *Extraction) packed {
	p.names.reset()
	p.texts.reset()
	p.numbers = p.numbers[:0]
	p.uint(len(x.Mentions))
	for i := range x.Mentions {
		m := &x.Mentions[i]
		p.name(m.Name)
		p.name(m.Type)
		p.text(m.Description)
		p.span(m.Span)
	}
	p.uint(len(x.Facts))
	for i := range x.Facts {
		p.fact(&x.Facts[i])
	}
	p.uint(len(x.Attributes))
	for _, a := range x.Attributes {
		p.name(a.Entity)
		p.name(a.Key)
		p.name(a.Value)
		p.span(a.Span)
	}
	p.uint(len(x.Problems))
	for _, q := range x.Problems {
		p.name(q.Kind)
		p.name(q.Text)
		p.name(q.Reason)
	}
	return packed{x.Doc, append([]string(nil), p.texts.list...), p.joined()}
}

func (p *packer) fact(f *Fact) {
	p.name(f.Head)
	p.name(f.Relation)
	p.name(f.Tail)
	p.text(f.Description)
	p.uint(len(f.Keywords))
	for _, k := range f.Keywords {
		p.name(k)
	}
	p.float(f.Weight)
	p.span(f.Span)
}

// joined is the number of names, their lengths, the names, and the numbers.
func (p *packer) joined() string {
	head := binary.AppendUvarint(nil, uint64(len(p.names.list)))
	size := 0
	for _, s := range p.names.list {
		head = binary.AppendUvarint(head, uint64(len(s)))
		size += len(s)
	}
	var b strings.Builder
	b.Grow(len(head) + size + len(p.numbers))
	b.Write(head)
	for _, s := range p.names.list {
		b.WriteString(s)
	}
	b.Write(p.numbers)
	return b.String()
}

// unpacker unpacks one extraction after the other.
type unpacker struct {
	names []string
	texts []string
	rest  string
}

func (u *unpacker) uvarint() (n uint64) {
	for shift := 0; ; shift += 7 {
		b := u.rest[0]
		u.rest = u.rest[1:]
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
}

func (u *unpacker) uint() int { return int(u.uvarint()) }

func (u *unpacker) signed() int {
	n := u.uvarint()
	return int(n>>1) ^ -int(n&1)
}

func (u *unpacker) span() Span {
	start := u.signed()
	return Span{start, start + u.signed()}
}

func (u *unpacker) float() float64 {
	return math.Float64frombits(bits.ReverseBytes64(u.uvarint()))
}

func (u *unpacker) name() string { return numbered(u.names, u.uint()) }
func (u *unpacker) text() string { return numbered(u.texts, u.uint()) }

func numbered(list []string, n int) string {
	if n == 0 {
		return ""
	}
	return list[n-1]
}

// into writes an extraction over x. Its strings share the memory of what is packed.
func (p *packed) into(u *unpacker, chunk string, x *Extraction) {
	u.open(p)
	x.Chunk, x.Doc = chunk, p.doc
	x.Mentions = resized(x.Mentions, u.uint())
	for i := range x.Mentions {
		x.Mentions[i] = Mention{Name: u.name(), Type: u.name(), Description: u.text(), Span: u.span()}
	}
	x.Facts = resized(x.Facts, u.uint())
	for i := range x.Facts {
		u.fact(&x.Facts[i])
	}
	x.Attributes = resized(x.Attributes, u.uint())
	for i := range x.Attributes {
		x.Attributes[i] = Attribute{Entity: u.name(), Key: u.name(), Value: u.name(), Span: u.span()}
	}
	x.Problems = resized(x.Problems, u.uint())
	for i := range x.Problems {
		x.Problems[i] = Problem{Kind: u.name(), Text: u.name(), Reason: u.name()}
	}
}

// open finds the names.
func (u *unpacker) open(p *packed) {
	u.texts, u.rest = p.texts, p.bytes
	lengths := u.uint()
	u.names = u.names[:0]
	head := u.rest
	for range lengths {
		u.uint()
	}
	at := len(head) - len(u.rest)
	u.rest = head
	for range lengths {
		n := u.uint()
		u.names = append(u.names, head[at:at+n])
		at += n
	}
	u.rest = head[at:]
}

func (u *unpacker) fact(f *Fact) {
	f.Head, f.Relation, f.Tail, f.Description = u.name(), u.name(), u.name(), u.text()
	f.Keywords = nil
	for range u.uint() {
		f.Keywords = append(f.Keywords, u.name())
	}
	f.Weight = u.float()
	f.Span = u.span()
}

// resized is a list of n items, nil for none.
func resized[T any](list []T, n int) []T {
	if n <= cap(list) {
		return list[:n]
	}
	return make([]T, n)
}
