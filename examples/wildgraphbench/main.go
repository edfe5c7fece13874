// SPDX-License-Identifier: Apache-2.0

// Command wildgraphbench runs question-answering systems over WildGraphBench, the
// multi-hop data sets, both GraphRAG-Benches, AnonyRAG or data of one's own, and writes a
// report folder.
//
//	go run ./examples/wildgraphbench                     # every system on a small sample, offline
//	go run ./examples/wildgraphbench -data DIR           # a data set: the folder's layout says which
//	go run ./examples/wildgraphbench compare OUT1 OUT2   # two finished runs
//	go run ./examples/wildgraphbench anonyrag -out DIR   # make a data set whose names are hidden
//
// With -model a language model answers and judges; -help lists the flags. A run that was
// stopped goes on when it is started again.
//
// The exit status is 0 on success, 1 on failure or when a figure is below its
// -min, 64 for a wrong command line, and 3 when the result is not complete: the
// run was stopped, its budget is spent, questions are left without a score, or so
// much of a system failed that it is not compared, or a figure fell by more than -max-loss.
package main

import "github.com/wildgraph/wildgraph/examples/wildgraphbench/bench"

func main() { bench.Main() }
