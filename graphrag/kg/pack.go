// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
)

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
