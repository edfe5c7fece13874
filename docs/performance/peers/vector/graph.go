//go:build linux

package main

import (
	"bufio"
	"errors"
	"os"
	"strconv"

	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// kept is the index that was built, in one go and on one core, and how long that took.
func kept(data string, rows [][]float32) (*vector.Index, float64, error) {
	file := data + ".graph"
	if in, err := os.Open(file); err == nil {
		defer in.Close()
		text, err := os.ReadFile(file + ".took")
		if err != nil {
			return nil, 0, err
		}
		took, err1 := strconv.ParseFloat(string(text), 64)
		x, err2 := vector.Read(bufio.NewReader(in), vector.Options{Workers: 1})
		return x, took, errors.Join(err1, err2)
	}
	x, err := vector.New(vector.Options{Dim: dim, Cosine: true, Quantized: true, Graph: true, Workers: 1})
	if err != nil {
		return nil, 0, err
	}
	took, err := least(1, func() error { return x.Add(rows...) })
	if err != nil {
		return nil, 0, err
	}
	out, err := os.Create(file)
	if err != nil {
		return nil, 0, err
	}
	_, err = x.WriteTo(out)
	text := strconv.FormatFloat(took, 'g', -1, 64)
	return x, took, errors.Join(err, out.Close(), os.WriteFile(file+".took", []byte(text), 0o644))
}

// approximate measures walks through a graph, with the least beam that finds 99 % of the
// ten nearest.
func approximate(data string, round int) error {
	rows, queries, err := load(data)
	if err != nil {
		return err
	}
	f := about(len(rows), round)
	x, build, err := kept(data, rows)
	if err != nil {
		return err
	}
	if round == 1 {
		f.show("approximate, build", build, "CPU s")
	}
	rows = nil
	for beam := k; ; beam++ {
		p := vector.Params{K: k, Beam: beam}
		found, err := each(x, queries, p)
		if err != nil {
			return err
		}
		share, err := recall(data, found)
		if err != nil {
			return err
		}
		if share < .99 && beam < 400 {
			continue
		}
		one, err := least(5, func() error { _, err := each(x, queries, p); return err })
		if err != nil {
			return err
		}
		f.show("approximate, one query", 1e6*one/float64(len(queries)), "CPU µs")
		f.show("recall@10, approximate", share, "")
		f.show("ef, approximate", float64(beam), "")
		return nil
	}
}
