// SPDX-License-Identifier: Apache-2.0

// Command wildgraphbench runs question-answering systems over WildGraphBench, the multi-hop data sets, both
// GraphRAG-Benches, AnonyRAG or your own data, and writes a report folder.
//
//	go run ./examples/wildgraphbench                     # every system on a small sample, offline
//	go run ./examples/wildgraphbench -data DIR           # a data set, recognised by its layout
//	go run ./examples/wildgraphbench compare OUT1 OUT2   # two finished runs
//	go run ./examples/wildgraphbench anonyrag -out DIR   # make a data set with hidden names
//
// With -model a language model answers and judges; -help lists the flags. A stopped run
// continues when it is started again.
//
// The exit status is 0 on success, 1 on failure or if a figure is below its -min, 64 for a wrong command line,
// and 3 if the result is not complete: the run was stopped, its budget is spent, questions have no score, a
// system failed too often to be compared, or a figure dropped by more than -max-loss.
package main

import "github.com/wildgraph/wildgraph/examples/wildgraphbench/bench"

func main() { bench.Main() }
