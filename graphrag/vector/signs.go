// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

const (
	// signStep is the step of the best uniform quantizer of eight levels, in standard deviations of a normal
	// distribution (Max, "Quantizing for minimum distortion", IRE Transactions on Information Theory 6(1), 1960,
	// table II). Four levels lose three times as much, sixteen gain little compared to the loss of the rows.
	signStep = .5860
	turnSeed = 1
)

// signs holds the signs of the components of rows after a random rotation, for a first estimate of scores (Gao
// and Long, "RaBitQ: quantizing high-dimensional vectors with a theoretical error bound for approximate nearest
// neighbor search", SIGMOD 2024).
type signs struct {
	turn   rotation
	bits   []uint64 // sign bits of groups of signGroup rows, word by word
	units  []float32
	turned []float32 // memory of add
}

// add appends the signs of a row.
func (s *signs) add(row []float32) {
	size := signGroup * s.turn.words()
	lane := len(s.units) % signGroup
	if lane == 0 {
		s.bits = append(s.bits, make([]uint64, size)...)
	}
	if s.turned == nil {
		s.turned = make([]float32, s.turn.width)
	}
	s.units = append(s.units, s.turn.signRow(s.bits[len(s.bits)-size:], lane, row, s.turned))
}

// words returns the number of words with the signs of a row.
func (r rotation) words() int { return r.width / 64 }

// signRow writes the signs of a row into its lane of a group. The score of the row is estimated by unit · Σ
// sign·component of the rotated query, which is right on average over rotations (section 3.2 of the paper:
// o/⟨ō,o⟩). turned is scratch memory.
func (r rotation) signRow(group []uint64, lane int, row, turned []float32) (unit float32) {
	r.apply(turned, row)
	sum := 0.0
	for w := range r.words() {
		word := uint64(0)
		for j, c := range turned[64*w : 64*w+64] {
			sum += math.Abs(float64(c))
			word |= uint64(math.Float32bits(c)>>31) << j
		}
		group[w*signGroup+lane] = word
	}
	if sum == 0 {
		return 0
	}
	return float32(norm(row) * norm(turned) / sum)
}

// signQuery writes the planes of a query, word by word. A magnitude is 1, 3, 5 or 7 steps: 1, plus 2 for the
// first bit and 4 for the second. It returns the sum of the magnitudes.
func (r rotation) signQuery(planes []uint64, query, turned []float32) (most int32) {
	r.apply(turned, query)
	step := signStep * norm(turned) / math.Sqrt(float64(r.width))
	for w := range r.words() {
		var sign, two, four uint64
		for j, c := range turned[64*w : 64*w+64] {
			level := uint64(min(3, math.Abs(float64(c))/step))
			sign |= uint64(math.Float32bits(c)>>31) << j
			two |= level & 1 << j
			four |= level >> 1 << j
			most += int32(1 + 2*level)
		}
		planes[signPlanes*w], planes[signPlanes*w+1], planes[signPlanes*w+2] = sign, two, four
	}
	return most
}

// rotation rotates vectors at random, by two rounds of random signs and a Walsh–Hadamard transform (Ailon and
// Chazelle, "The fast Johnson–Lindenstrauss transform", SIAM Journal on Computing 39(1), 2009). If the width is
// not a power of two, blocks of a power of two are transformed, and the blocks are mixed by a Householder
// reflection. The result is block times as long as the vector.
type rotation struct {
	width, block int
	flips        [2][]float32
}

func newRotation(dim int) rotation {
	width := roundUp(dim, 64)
	r := rotation{width: width, block: width & -width}
	rng := rand.New(rand.NewPCG(turnSeed, uint64(dim)))
	for i := range r.flips {
		r.flips[i] = make([]float32, r.width)
		for j := range r.flips[i] {
			r.flips[i][j] = float32(1 - 2*rng.IntN(2))
		}
	}
	return r
}

// apply writes a rotated vector to dst.
func (r rotation) apply(dst, v []float32) {
	clear(dst[copy(dst, v):])
	for _, flip := range r.flips {
		for i, f := range flip {
			dst[i] *= f
		}
		for i := 0; i < r.width; i += r.block {
			hadamard(dst[i : i+r.block])
		}
		if r.block < r.width {
			r.mirror(dst)
		}
	}
}

// mirror reflects the blocks at the plane between them: each is reduced by twice their mean.
func (r rotation) mirror(v []float32) {
	twice := 2 * float32(r.block) / float32(r.width)
	for j := range r.block {
		sum := float32(0)
		for i := j; i < r.width; i += r.block {
			sum += v[i]
		}
		sum = float32(sum * twice) // the conversion forces rounding, which some processors would skip
		for i := j; i < r.width; i += r.block {
			v[i] -= sum
		}
	}
}

// hadamard computes the fast Walsh–Hadamard transform.
func hadamard(v []float32) {
	for h := 1; h < len(v); h *= 2 {
		for i := 0; i < len(v); i += 2 * h {
			a, b := v[i:][:h], v[i+h:][:h]
			for j, x := range a {
				a[j], b[j] = x+b[j], x-b[j]
			}
		}
	}
}

// A search reads at least fewRows rows, and at least manyTimes as many as are wanted: of fewer rows the
// estimates might miss the best ones.
const (
	fewRows   = 1 << 12
	manyTimes = 32
)

// reads returns the number of rows that a search reads after a scan of the signs; all rows without a scan.
func (x *Index) reads(p Params) int {
	if x.signs == nil || p.Share <= 0 || p.Share >= 1 {
		return x.n
	}
	return max(fewRows, int(math.Ceil(p.Share*float64(x.n))), manyTimes*p.K)
}

// signScan is the memory of the scan of the signs.
type signScan struct {
	planes []uint64 // signs and magnitudes of the query
	turned []float32
	most   int32 // sum of the query's magnitudes

	wanted int
	floor  float32 // rows with lower estimates cannot be among the best
	likely []guess // candidates: rows whose estimate is at least floor
	counts []int32 // number of candidates by key
	ids    []int32
}

// guess is a row with its estimated score.
type guess struct {
	id       int32
	estimate float32
}

// likely returns the wanted number of admitted rows with the best estimates, and all further ones with the key
// of the last, in the order of their ids.
func (x *Index) likely(s *scratch, wanted, workers int) []int32 {
	turn, g := x.signs.turn, &s.signs
	g.planes = slices.Grow(g.planes[:0], signPlanes*turn.words())[:signPlanes*turn.words()]
	g.turned = slices.Grow(g.turned[:0], turn.width)[:turn.width]
	g.most = turn.signQuery(g.planes, s.query, g.turned)
	g.reset(wanted)
	if workers = min(workers, 1+x.n/shardRows); workers <= 1 {
		x.scanSigns(s, g, s.sel.Keep, 0, x.n)
	} else {
		parts := s.grow(workers)
		for _, part := range parts {
			part.signs.reset(wanted)
		}
		_ = par.Ranges(context.Background(), x.n, shardRows, workers, func(worker, first, last int) error {
			x.scanSigns(parts[worker], g, s.sel.Keep, first, last)
			return nil
		})
		for _, part := range parts {
			g.likely = append(g.likely, part.signs.likely...)
		}
	}
	g.prune()
	g.ids = slices.Grow(g.ids[:0], 1) // not nil, which would mean all rows
	for _, r := range g.likely {
		g.ids = append(g.ids, r.id)
	}
	slices.Sort(g.ids)
	return g.ids
}

func (g *signScan) reset(wanted int) {
	g.wanted, g.floor, g.likely = wanted, float32(math.Inf(-1)), g.likely[:0]
}

// scanSigns estimates the scores of rows for the query of g, and collects the best in s.signs.
func (x *Index) scanSigns(s *scratch, g *signScan, keep func(int32) bool, first, last int) {
	words, mine := x.signs.turn.words(), &s.signs
	s.sums = slices.Grow(s.sums[:0], blockRows)[:blockRows]
	for ; first < last; first += blockRows {
		n := min(blockRows, last-first)
		sums := s.sums[:roundUp(n, signGroup)]
		differRows(sums, x.signs.bits[first*words:(first+len(sums))*words], g.planes)
		for i, unit := range x.signs.units[first : first+n] {
			estimate := unit * float32(g.most-2*sums[i])
			if estimate >= mine.floor && (keep == nil || keep(int32(first+i))) {
				mine.likely = append(mine.likely, guess{int32(first + i), estimate})
			}
		}
		if len(mine.likely) >= 4*mine.wanted {
			mine.prune()
		}
	}
}

// prune removes rows that are not among the best, and sets the floor to the lowest estimate that has the same
// key as the last of these.
func (g *signScan) prune() {
	if len(g.likely) <= g.wanted {
		return
	}
	g.counts = slices.Grow(g.counts[:0], 1<<16)[:1<<16]
	clear(g.counts)
	highest := uint16(0)
	for _, r := range g.likely {
		key := order(r.estimate)
		g.counts[key]++
		highest = max(highest, key)
	}
	key, sum := highest, int(g.counts[highest])
	for sum < g.wanted {
		key--
		sum += int(g.counts[key])
	}
	g.floor = unordered(key)
	g.likely = slices.DeleteFunc(g.likely, func(r guess) bool { return r.estimate < g.floor })
}

// order returns a key with the order of the numbers: the upper half of the bits of a number, eight bits of
// precision at any magnitude. Counting keys is faster than selecting by comparison.
func order(f float32) uint16 {
	b := int32(math.Float32bits(f))
	return uint16(uint32(b^(b>>31|math.MinInt32)) >> 16)
}

// unordered returns the least number with a key.
func unordered(key uint16) float32 {
	if key >= 1<<15 {
		return math.Float32frombits(uint32(key-1<<15) << 16)
	}
	return math.Float32frombits(^(uint32(key) << 16))
}

// codeSlabs holds the rows as int8, each with its own scale: row ≈ scale · code, and the length of the
// difference is at most rest.
type codeSlabs struct {
	values  slabs[int8] // padded as Index.rows
	bounds  slabs[bound]
	longest float64 // largest rest
}

type bound struct {
	scale float32
	rest  float32
}

const maxCode = 127

// set computes the code of row i.
func (c *codeSlabs) set(i int, row []float32) {
	limits := codeRow(c.values.part(i, 1), row)
	c.bounds.part(i, 1)[0] = limits
	c.longest = max(c.longest, float64(limits.rest))
}

// codeRow writes the code of a row. rest is computed from the stored values, so it includes their rounding.
func codeRow(code []int8, row []float32) bound {
	step := float32(largest(row) / maxCode)
	squares := 0.0
	for j, v := range row {
		q := 0.0
		if step > 0 {
			q = math.RoundToEven(float64(v) / float64(step))
			q = min(maxCode, max(-maxCode, q))
		}
		code[j] = int8(q)
		rest := float64(v) - q*float64(step)
		squares += rest * rest
	}
	// The factor covers the rounding of this computation.
	rest := math.Sqrt(squares) * (1 + 0x1p-20)
	return bound{scale: step, rest: ceil32(rest)}
}

// queryCode is a query as int16: unit ≈ step·words, where unit is the query scaled to length 1, and rest is the
// length of the difference.
type queryCode struct {
	words      []int16
	step, rest float64
}

// set computes the code of a query. The words are as large as possible without an overflow of int32 in a sum of
// products with int8 codes.
func (c *queryCode) set(query []float32, length float64) {
	c.words = slices.Grow(c.words[:0], len(query))[:len(query)]
	limit := float64(min(math.MaxInt16, math.MaxInt32/(maxCode*len(query))))
	c.step = largest(query) / length / limit
	squares := 0.0
	for j, v := range query {
		unit := float64(v) / length
		q := math.RoundToEven(unit / c.step)
		q = min(limit, max(-limit, q))
		c.words[j] = int16(q)
		squares += (unit - q*c.step) * (unit - q*c.step)
	}
	c.rest = math.Sqrt(squares) * (1 + 0x1p-20)
}

// codeError bounds, for a unit query, how far an estimate from the codes can be from the score, without the
// part that differs from row to row, Cauchy–Schwarz on the rest of the row. It contains the part of the
// query that its code loses (rest), and the rounding of the float32 arithmetic in [Index.scanCodes] and of
// the score: seven roundings on magnitudes of at most twice reach. The last terms are the rounding near
// zero of the estimates and of the scores, which use the query at its own length.
func codeError(rest, longestRow, longestRest, length float64) float64 {
	reach := (1 + rest) * (longestRow + longestRest)
	return rest*(longestRow+longestRest) + 16*0x1p-24*reach + 0x1p-118 + 0x1p-148/length
}

// floatError returns a bound of the difference between the sum of a float kernel and the score: dim/8 additions
// and at most 16 more roundings on magnitudes of at most |row|·|query| (Higham, "Accuracy and Stability of
// Numerical Algorithms", section 3.1), and the loss near zero.
func floatError(dim int, longestRow, length float64) float64 {
	return longestRow*length*float64(dim/8+24)*0x1p-24*1.01 + float64(dim+8)*0x1p-149
}

// largest returns the largest magnitude.
func largest(v []float32) float64 {
	m := 0.0
	for _, c := range v {
		m = max(m, math.Abs(float64(c)))
	}
	return m
}

// ceil32 converts a number to float32, rounding up.
func ceil32(x float64) float32 {
	f := float32(x)
	if float64(f) < x {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}

// norm returns the Euclidean length. Squares of float32 are exact in float64 and cannot overflow there.
func norm(v []float32) float64 {
	sum := 0.0
	for _, c := range v {
		sum += float64(c) * float64(c)
	}
	return math.Sqrt(sum)
}

// Cosine returns the cosine of the angle between two vectors, with the same bits on every machine. It is 0 if
// one of them is zero or they have different numbers of components.
func Cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	dot, aa, bb := 0.0, 0.0, 0.0
	for i, x := range a {
		x, y := float64(x), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// Unit scales v to length 1 and returns it; a vector of zeros stays as it is.
func Unit(v []float32) []float32 {
	scale(v, norm(v))
	return v
}

// scale divides v by length, unless length is 0.
func scale(v []float32, length float64) {
	if length == 0 {
		return
	}
	for i, c := range v {
		v[i] = float32(float64(c) / length)
	}
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
