// SPDX-License-Identifier: Apache-2.0

// Command lucene compares package bm25 with Lucene in one run: the same
// pieces, the same questions, passes in turn, one core each. See README.md.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

func main() {
	classpath := flag.String("classpath", "", "class path with lucene-core, lucene-analyzers-common and the compiled LuceneBench")
	passes := flag.Int("passes", 7, "measured passes over the questions, after 3 to warm up")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	if err := run(context.Background(), os.Getenv("WILDGRAPHBENCH_DIR"), *classpath, *passes); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir, classpath string, passes int) error {
	if dir == "" {
		return errors.New("set WILDGRAPHBENCH_DIR to a WildGraphBench checkout")
	}
	pages, questions, err := read(dir)
	if err != nil {
		return err
	}
	fmt.Println("| pieces | | build | MB/s | p50 | p99 | mean |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, size := range []int{4800, 400} {
		if err := compare(ctx, classpath, passes, size, pages, questions); err != nil {
			return err
		}
	}
	return nil
}

// compare prints the three rows of one size of pieces.
func compare(ctx context.Context, classpath string, passes, size int, pages, questions []string) error {
	pieces, bytes := cut(pages, size)
	java, err := start(ctx, classpath, pieces, questions)
	if err != nil {
		return err
	}
	defer java.stop()
	lucene, ours := result{build: 1 << 62}, result{build: 1 << 62}
	var ix *bm25.Index
	for range 3 {
		took, err := java.ask("index")
		if err != nil {
			return err
		}
		lucene.build = min(lucene.build, took[0])
		begin := time.Now()
		if ix, err = bm25.BuildTexts(ctx, pieces, bm25.Plain()); err != nil {
			return err
		}
		ours.build = min(ours.build, time.Since(begin))
	}
	dst := make([]rank.Scored[int32], 0, 10)
	for pass := range 3 + passes {
		times, err := java.ask("pass")
		if err != nil {
			return err
		}
		own := make([]time.Duration, len(questions))
		for i, q := range questions {
			begin := time.Now()
			dst = ix.Search(q, 10, dst)
			own[i] = time.Since(begin)
		}
		if pass >= 3 {
			lucene.passes, ours.passes = append(lucene.passes, times), append(ours.passes, own)
		}
	}
	l50, l99, lMean := lucene.summary()
	o50, o99, oMean := ours.summary()
	mb := func(d time.Duration) float64 { return float64(bytes) / 1e6 / d.Seconds() }
	name := fmt.Sprintf("%d × %d bytes", len(pieces), size)
	us := func(d time.Duration) string { return fmt.Sprintf("%.0f µs", float64(d)/1e3) }
	fmt.Printf("| %s | Lucene | %.2f s | %.0f | %s | %s | %s |\n", name, lucene.build.Seconds(), mb(lucene.build), us(l50), us(l99), us(lMean))
	fmt.Printf("| | bm25 | %.2f s | %.0f | %s | %s | %s |\n", ours.build.Seconds(), mb(ours.build), us(o50), us(o99), us(oMean))
	ratio := func(a, b time.Duration) float64 { return float64(a) / float64(b) }
	fmt.Printf("| | times faster | %.1f | | %.1f | %.1f | %.1f |\n", ratio(lucene.build, ours.build), ratio(l50, o50), ratio(l99, o99), ratio(lMean, oMean))
	return nil
}

// result is what was measured of one side.
type result struct {
	build  time.Duration
	passes [][]time.Duration
}

// summary takes the fastest pass of each question, which other programs have
// disturbed least, and of these the quantiles and the mean.
func (r result) summary() (p50, p99, mean time.Duration) {
	n := len(r.passes[0])
	times := make([]time.Duration, n)
	for i := range times {
		times[i] = r.passes[0][i]
		for _, p := range r.passes {
			times[i] = min(times[i], p[i])
		}
		mean += times[i] / time.Duration(n)
	}
	slices.Sort(times)
	return times[n/2], times[n*99/100], mean
}

// process is a running LuceneBench.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	dir string
}

func start(ctx context.Context, classpath string, pieces, questions []string) (*process, error) {
	dir, err := os.MkdirTemp("", "lucene")
	if err != nil {
		return nil, err
	}
	p, q := filepath.Join(dir, "pieces"), filepath.Join(dir, "questions")
	if err := errors.Join(write(p, pieces), write(q, questions)); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "java", "-Xmx6g", "-XX:ActiveProcessorCount=1", "-XX:+UseSerialGC", "-cp", classpath, "LuceneBench", p, q)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{cmd, in, bufio.NewReader(out), dir}, cmd.Start()
}

// ask sends a command and reads the times it answers.
func (p *process) ask(command string) ([]time.Duration, error) {
	if _, err := fmt.Fprintln(p.in, command); err != nil {
		return nil, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("LuceneBench %s: %w", command, err)
	}
	var times []time.Duration
	for _, f := range strings.Fields(line) {
		var ns int64
		if _, err := fmt.Sscan(f, &ns); err != nil {
			return nil, err
		}
		times = append(times, time.Duration(ns))
	}
	return times, nil
}

func (p *process) stop() {
	p.in.Close()
	p.cmd.Wait()
	os.RemoveAll(p.dir)
}

// write stores records of a 4-byte length and the bytes.
func write(path string, records []string) error {
	var b []byte
	for _, r := range records {
		b = binary.BigEndian.AppendUint32(b, uint32(len(r)))
		b = append(b, r...)
	}
	return os.WriteFile(path, b, 0o600)
}

// read returns the pages and the questions, each with its distinct words.
func read(dir string) (pages, questions []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		switch {
		case err != nil:
			return err
		case filepath.Base(filepath.Dir(path)) == "reference_pages":
			pages = append(pages, string(content))
		case d.Name() == "questions.jsonl":
			for line := range strings.Lines(string(content)) {
				var q struct{ Question string }
				if err := json.Unmarshal([]byte(line), &q); err != nil {
					return err
				}
				questions = append(questions, distinct(q.Question))
			}
		}
		return nil
	})
	return pages, questions, err
}

func distinct(question string) string {
	var words []string
	for _, w := range text.Plain().Terms(question) {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

func cut(pages []string, size int) (pieces []string, bytes int64) {
	for _, p := range pages {
		bytes += int64(len(p))
		for len(p) > 0 {
			n := min(size, len(p))
			pieces, p = append(pieces, strings.ToValidUTF8(p[:n], " ")), p[n:]
		}
	}
	return pieces, bytes
}
