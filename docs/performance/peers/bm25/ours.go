//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// build reads pieces, indexes and saves them, and prints the CPU time.
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

// search answers the questions of the files that standard input names, and prints the CPU time of each and
// the number of all hits.
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
