//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/display"
)

const (
	hits   = 10 // number of hits of a question
	warm   = 25 // number of untimed passes, for just-in-time compilers
	passes = 9  // number of timed passes; for each question the fastest counts
)

// program is a program with a search library.
type program struct {
	name    string
	command []string
	index   string // path of its index

	running *exec.Cmd // the program's running search process
	in      io.WriteCloser
	out     *bufio.Reader
}

// compare prints the figures of this library and of the other programs, which are given as NAME=COMMAND.
func compare(ctx context.Context, peers []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	all := []*program{{name: figure.Us, command: []string{self}}}
	for _, p := range peers {
		name, command, _ := strings.Cut(p, "=")
		all = append(all, &program{name: name, command: strings.Fields(command)})
	}
	rounds := 3
	if s := os.Getenv("ROUNDS"); s != "" {
		if rounds, err = strconv.Atoi(s); err != nil {
			return fmt.Errorf("read the variable ROUNDS: %w", err)
		}
	}
	d, err := load(os.Getenv("WILDGRAPHBENCH_DIR"))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bm25")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for round := range rounds {
		for _, s := range []struct {
			name string
			size int
		}{{"chunks of 4,800 bytes", 4800}, {"passages of 400 bytes", 400}} {
			m := measuring{all: all, data: d, pieces: cut(d.pages, s.size), dir: dir, round: round + 1}
			m.set = display.Digits(len(m.pieces)) + " " + s.name
			if err := m.run(ctx); err != nil {
				return fmt.Errorf("measure %s: %w", s.name, err)
			}
		}
	}
	return nil
}

// measuring is one round of measurements with one set of pieces.
type measuring struct {
	all    []*program
	data   data
	pieces []string
	dir    string
	set    string
	round  int
}

func (m *measuring) show(what, who, unit string, value float64) {
	figure.Figure{Set: m.set, Who: who, Round: m.round}.Show(what, value, unit)
}

func (m *measuring) run(ctx context.Context) error {
	pieces, whole := filepath.Join(m.dir, "pieces"), filepath.Join(m.dir, "whole")
	if err := errors.Join(writeRecords(pieces, m.pieces), writeRecords(whole, m.data.whole)); err != nil {
		return err
	}
	for _, p := range m.all {
		if err := m.build(ctx, p, pieces); err != nil {
			return fmt.Errorf("build the index of %s: %w", p.name, err)
		}
	}
	if err := m.cores(ctx, pieces); err != nil {
		return err
	}
	for _, p := range m.all {
		if err := p.start(ctx); err != nil {
			return fmt.Errorf("start %s: %w", p.name, err)
		}
		defer p.stop()
	}
	if err := m.search("whole questions", whole); err != nil {
		return err
	}
	ix, err := bm25.Open(m.all[0].index, text.Plain())
	if err != nil {
		return err
	}
	worst, err := exact(ix, m.pieces, m.data.whole)
	if err != nil {
		return err
	}
	m.show("largest difference to scores in float64", figure.Us, "", worst)
	return nil
}

// build measures how a program indexes the pieces.
func (m *measuring) build(ctx context.Context, p *program, pieces string) error {
	p.index = filepath.Join(m.dir, strings.ReplaceAll(p.name, " ", "-"))
	if err := os.RemoveAll(p.index); err != nil {
		return err
	}
	ns, _, err := p.build(ctx, pieces, 1)
	if err != nil {
		return err
	}
	size := int64(0)
	err = filepath.WalkDir(p.index, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		size += info.Size()
		return err
	})
	m.show("read, build and save", p.name, "CPU s", ns/1e9)
	m.show("index on disk", p.name, "MB", float64(size)/1e6)
	return err
}

// cores prints the time of this library's build on two cores, divided by the time on one core.
func (m *measuring) cores(ctx context.Context, pieces string) error {
	var took [2]time.Duration
	for i := range took {
		_, wall, err := m.all[0].build(ctx, pieces, i+1)
		if err != nil {
			return err
		}
		took[i] = wall
	}
	m.show("the same on two cores, of the time on one", figure.Us, "", float64(took[1])/float64(took[0]))
	return nil
}

// build runs a program's build on a number of cores, and returns the CPU time and the wall time.
func (p *program) build(ctx context.Context, pieces string, cores int) (ns float64, wall time.Duration, err error) {
	cmd := exec.CommandContext(ctx, p.command[0], append(slices.Clone(p.command[1:]), "build", pieces, p.index)...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
	start := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return 0, 0, err
	}
	wall = time.Since(start)
	ns, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return ns, wall, err
}

// search measures the searches of all programs in turn.
func (m *measuring) search(what, file string) error {
	fastest := make([][]float64, len(m.all))
	for pass := range warm + passes {
		for i, p := range m.all {
			times, err := p.pass(file)
			if err != nil {
				return fmt.Errorf("search with %s: %w", p.name, err)
			}
			if pass < warm {
				continue
			}
			if fastest[i] == nil {
				fastest[i] = times
			}
			for q, t := range times {
				fastest[i][q] = min(fastest[i][q], t)
			}
		}
	}
	for _, quantity := range []string{"mean", "p50", "p99"} {
		for i, p := range m.all {
			m.show(what+", "+quantity, p.name, "µs", of(quantity, fastest[i])/1e3)
		}
	}
	return nil
}

func of(quantity string, times []float64) float64 {
	sorted, sum := slices.Sorted(slices.Values(times)), 0.0
	for _, t := range sorted {
		sum += t
	}
	switch quantity {
	case "p50":
		return sorted[len(sorted)/2]
	case "p99":
		return sorted[len(sorted)*99/100]
	}
	return sum / float64(len(sorted))
}

// start starts a program that searches.
func (p *program) start(ctx context.Context) (err error) {
	p.running = exec.CommandContext(ctx, p.command[0], append(slices.Clone(p.command[1:]), "search", p.index)...)
	p.running.Stderr, p.running.Env = os.Stderr, append(os.Environ(), "GOMAXPROCS=1")
	if p.in, err = p.running.StdinPipe(); err != nil {
		return err
	}
	out, err := p.running.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	return p.running.Start()
}

// pass makes the program search for all questions of a file, and returns the times.
func (p *program) pass(file string) ([]float64, error) {
	if _, err := fmt.Fprintln(p.in, file); err != nil {
		return nil, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(line)
	if last := len(fields) - 1; last < 1 || fields[last] == "0" {
		return nil, errors.New("the program found nothing")
	}
	times := make([]float64, len(fields)-1)
	for i := range times {
		if times[i], err = strconv.ParseFloat(fields[i], 64); err != nil {
			return nil, err
		}
	}
	return times, nil
}

func (p *program) stop() {
	p.in.Close()
	_ = p.running.Wait()
}
