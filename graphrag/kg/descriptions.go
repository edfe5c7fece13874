// SPDX-License-Identifier: Apache-2.0

package kg

// descriptions are lists of them, one behind the other. Most are from one passage, and take
// 8 bytes: a graph of the sentences of 155 MB of pages has a million.
type descriptions struct {
	ends     []int32
	text     []int32 // of each its text
	passages []int32 // of each its passage; of one with several ^ their place in more
	more     lists[int32]
	texts    []string
}

// of is a list, made when it is asked for; nil if it is empty.
func (d *descriptions) of(i int32) []Description {
	lo, hi := int32(0), d.ends[i]
	if i > 0 {
		lo = d.ends[i-1]
	}
	if lo == hi {
		return nil
	}
	out := make([]Description, hi-lo)
	for n := range out {
		out[n] = Description{d.texts[d.text[lo+int32(n)]], d.from(lo + int32(n))}
	}
	return out
}

// from are the passages of a description.
func (d *descriptions) from(at int32) []int32 {
	if p := d.passages[at]; p < 0 {
		return d.more.of(int(^p))
	}
	return d.passages[at : at+1 : at+1]
}

// told says that a passage has a text about something.
type told struct{ list, passage, text int32 }

// described gathers texts by what they describe, of which there are n: equal texts once,
// in the order in which they first appear. said is sorted by list, and within one by
// passage.
func described(n int, said []told, texts []string) descriptions {
	out := descriptions{ends: make([]int32, 0, n), texts: texts}
	place := make([]int32, len(texts)) // of a text among the descriptions, from 1
	of := make([]int32, len(said))     // the description of each
	var text, size, last []int32       // of each description: passages, the last one
	for i := range said {
		s := &said[i]
		for int32(len(out.ends)) < s.list {
			out.ends = append(out.ends, int32(len(text)))
		}
		first := int32(0)
		if s.list > 0 {
			first = out.ends[s.list-1]
		}
		d := place[s.text] - 1
		if d < first {
			d = int32(len(text))
			place[s.text] = d + 1
			text, size, last = append(text, s.text), append(size, 0), append(last, -1)
		}
		of[i] = -1 // the same passage again
		if last[d] != s.passage {
			of[i], last[d] = d, s.passage
			size[d]++
		}
	}
	for len(out.ends) < n {
		out.ends = append(out.ends, int32(len(text)))
	}
	out.text = clipped(text)
	out.fill(said, of, size)
	return out
}

// fill writes the passages of each description, of which there are size.
func (d *descriptions) fill(said []told, of, size []int32) {
	d.passages = make([]int32, len(size))
	all := 0
	for i, n := range size {
		if n > 1 {
			d.passages[i] = ^int32(len(d.more.ends))
			d.more.ends = append(d.more.ends, all) // where it begins, until it is filled
			all += int(n)
		}
	}
	d.more.items = make([]int32, all)
	for i, to := range of {
		switch {
		case to < 0:
		case size[to] == 1:
			d.passages[to] = said[i].passage
		default:
			end := &d.more.ends[^d.passages[to]]
			d.more.items[*end] = said[i].passage
			*end++
		}
	}
}
