//go:build linux

// Command bm25 compares package bm25 with other search libraries, each in its own program, see README.md.
// `run` runs them in turn; `build` and `search` are this library's program.
package main

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
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

// cpu is the CPU time in nanoseconds of the process or the thread.
func cpu(clock int32) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		panic(err) // cannot happen with the clocks of a process
	}
	return t.Nano()
}
