//go:build linux

// Command bm25 compares package bm25 with other search libraries, each in its own program, see README.md. `bm25
// run` runs these in turn; `bm25 build` and `bm25 search` are this library's program.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

func main() { figure.Main("bm25", run) }

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) > 1 && args[0] == "run":
		return compare(ctx, args[1:])
	case len(args) == 3 && args[0] == "build":
		return build(ctx, args[1], args[2])
	case len(args) == 2 && args[0] == "search":
		return search(args[1])
	}
	return fmt.Errorf("usage: bm25 run NAME=COMMAND..., bm25 build PIECES INDEX, bm25 search INDEX")
}

// cpu returns the CPU time of the process or the thread, by the clock's number, in nanoseconds.
func cpu(clock int32) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		panic(err) // cannot happen with the clocks of process and thread
	}
	return t.Nano()
}

// build reads the pieces, indexes them, saves the index, and prints the CPU time of the process.
func build(ctx context.Context, pieces, file string) error {
	texts, err := readRecords(pieces)
	if err != nil {
		return err
	}
	ix, err := bm25.BuildTexts(ctx, texts, bm25.Plain())
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(file), bm25.Merge(ctx, file, ix)); err != nil {
		return err
	}
	fmt.Println(cpu(unix.CLOCK_PROCESS_CPUTIME_ID))
	return nil
}

// search reads names of files from standard input and searches for the questions in each file. It prints the
// CPU time of each search, and the number of all hits.
func search(file string) error {
	ix, err := bm25.Open(file, text.Plain())
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	dst := make([]rank.Scored[int32], 0, hits)
	files := bufio.NewScanner(os.Stdin)
	for files.Scan() {
		questions, err := readRecords(files.Text())
		if err != nil {
			return err
		}
		out, found := bufio.NewWriter(os.Stdout), 0
		for _, q := range questions {
			start := cpu(unix.CLOCK_THREAD_CPUTIME_ID)
			dst = ix.Search(q, hits, dst)
			fmt.Fprintf(out, "%d ", cpu(unix.CLOCK_THREAD_CPUTIME_ID)-start)
			found += len(dst)
		}
		fmt.Fprintln(out, found)
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return files.Err()
}

// data has the texts of WildGraphBench's pages, and in whole its questions, each reduced to distinct words.
type data struct{ pages, whole []string }

func load(dir string) (d data, err error) {
	pages, questions, err := figure.Pages(dir)
	for _, page := range pages {
		d.pages = append(d.pages, page.Text)
	}
	for _, q := range questions {
		d.whole = append(d.whole, distinct(text.Plain(), q))
	}
	return d, err
}

func distinct(a *text.Standard, question string) string {
	var words []string
	for _, w := range a.Terms(question) {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// cut splits the pages into pieces of size bytes.
func cut(pages []string, size int) (pieces []string) {
	for _, p := range pages {
		for len(p) > 0 {
			n := min(size, len(p))
			pieces, p = append(pieces, strings.ToValidUTF8(p[:n], " ")), p[n:]
		}
	}
	return pieces
}

// writeRecords writes texts, each after its length in four bytes, big-endian.
func writeRecords(path string, texts []string) error {
	var b []byte
	for _, t := range texts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(t)))
		b = append(b, t...)
	}
	return os.WriteFile(path, b, 0o600)
}

// readRecords returns the texts of a file, which stays mapped into memory.
func readRecords(path string) ([]string, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	mapped, err := unix.Mmap(int(in.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	texts := make([]string, 0, len(mapped)>>8)
	for all := unsafe.String(&mapped[0], len(mapped)); len(all) >= 4; {
		n := int(binary.BigEndian.Uint32([]byte(all[:4])))
		if n > len(all)-4 {
			return nil, errors.New(path + ": it ends within a text")
		}
		texts, all = append(texts, all[4:4+n]), all[4+n:]
	}
	return texts, nil
}

// posting is the number of occurrences of a word in a piece.
type posting struct {
	piece int32
	times float64
}

// exact compares the hits of all questions with scores that it computes in float64 from postings of its own. It
// returns the largest difference of a score, and an error if the hits are not the best pieces in their order.
func exact(ix *bm25.Index, pieces, questions []string) (worst float64, err error) {
	lists, lengths, average := map[string][]posting{}, make([]float64, len(pieces)), 0.0
	words := text.Plain()
	for i, p := range pieces {
		for _, w := range words.Terms(p) {
			lengths[i]++
			list := lists[w]
			if last := len(list) - 1; last >= 0 && list[last].piece == int32(i) {
				list[last].times++
				continue
			}
			lists[w] = append(list, posting{int32(i), 1})
		}
		average += lengths[i] / float64(len(pieces))
	}
	sums, n := make([]float64, len(pieces)), float64(len(pieces))
	for _, q := range questions {
		clear(sums)
		for _, w := range words.Terms(q) {
			df := float64(len(lists[w]))
			idf := math.Log(1 + (n-df+.5)/(df+.5))
			for _, p := range lists[w] {
				sums[p.piece] += idf * p.times * 2.2 / (p.times + 1.2*(.25+.75*lengths[p.piece]/average))
			}
		}
		found := ix.Search(q, hits, nil)
		last := math.Inf(1)
		for _, f := range found {
			worst = max(worst, math.Abs(sums[f.ID]-f.Score))
			if f.Score > last {
				return worst, fmt.Errorf("question %q: hit %v is out of order", q, f)
			}
			last = f.Score
			sums[f.ID] = 0
		}
		for i, sum := range sums {
			if sum > last+1e-4 || len(found) < hits && sum > 0 {
				return worst, fmt.Errorf("question %q: piece %d with score %g is no hit, but the last hit has score %g", q, i, sum, last)
			}
		}
	}
	return worst, nil
}
