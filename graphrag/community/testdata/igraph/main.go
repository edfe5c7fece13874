// SPDX-License-Identifier: Apache-2.0

// Command igraph runs this library and python3-igraph over the same graphs, one
// after the other, and prints CPU seconds and modularity; see README.md.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
)

func main() {
	log.SetFlags(0)
	passes := flag.Int("passes", 2, "passes of Leiden")
	seeds := flag.Int("seeds", 3, "seeds 0..n-1")
	only := flag.String("graph", "", "gb or ga; both if empty")
	peer := flag.Bool("peer", true, "run igraph too")
	keep := flag.String("keep", "", "folder to leave the graphs in")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	dir := *keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "leiden"); err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(dir)
	}
	fmt.Printf("| graph | seed | program | CPU s | wall s | modularity | communities |\n|---|---|---|---|---|---|---|\n")
	for _, name := range []string{"gb", "ga"} {
		if *only != "" && *only != name {
			continue
		}
		if err := compare(name, dir, *passes, *seeds, *peer); err != nil {
			log.Fatal(err)
		}
	}
}

func compare(name, dir string, passes, seeds int, peer bool) error {
	l, err := list(name)
	if err != nil || l.N == 0 {
		return err
	}
	g := l.Graph()
	path := filepath.Join(dir, name)
	if err := write(path, g); err != nil {
		return err
	}
	l.Edges = nil
	for seed := range seeds {
		begin, cpu := time.Now(), cpuSeconds()
		p, err := community.Leiden(context.Background(), g, community.Options{MaxPasses: passes, Seed: uint64(seed)})
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %d | wildgraph | %.2f | %.2f | %.5f | %d |\n", name, seed,
			cpuSeconds()-cpu, time.Since(begin).Seconds(), p.Quality, p.Communities)
	}
	if !peer {
		return nil
	}
	cmd := exec.Command("/usr/bin/python3", "graphrag/community/testdata/igraph/leiden.py", strconv.Itoa(passes), strconv.Itoa(seeds), path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("running igraph (is python3-igraph installed, and this the root of the repository?): %w", err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var r struct {
			Seed, Communities int
			CPU, Modularity   float64
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		fmt.Printf("| %s | %d | igraph | %.2f | | %.5f | %d |\n", name, r.Seed, r.CPU, r.Modularity, r.Communities)
	}
	return nil
}

// list returns gb, the planted partition, or ga, the co-occurrence graph of the
// names in the data set that WILDGRAPHBENCH_DIR names.
func list(name string) (graphtest.List, error) {
	if name == "gb" {
		return graphtest.Planted(1e6, 5e6, 1000, .3, 1), nil
	}
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		log.Print("ga left out: WILDGRAPHBENCH_DIR names no data set")
		return graphtest.List{}, nil
	}
	l, _, err := graphtest.Cooccurrence(os.DirFS(dir))
	return l, err
}

// write writes the edges of a graph in the format of leiden.py.
func write(path string, g *graph.Graph) error {
	data := binary.LittleEndian.AppendUint32(nil, uint32(g.N()))
	for u := range int32(g.N()) {
		lo, _ := g.Row(u)
		for i, v := range g.Neighbors(u) {
			if v < u {
				continue
			}
			data = binary.LittleEndian.AppendUint32(data, uint32(u))
			data = binary.LittleEndian.AppendUint32(data, uint32(v))
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(g.Weight(lo+int64(i)))))
		}
	}
	return os.WriteFile(path, data, 0o644)
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
