// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// What is whole, torn and damaged is told apart, in words and by the end of the
// program, and a repaired file opens.
func TestVerifyAndRepair(t *testing.T) {
	dir := t.TempDir()
	header := journal.Header{Schema: "test/1"}
	path := filepath.Join(dir, "j")
	j := check.Of(journal.Open(path, header, journal.Options{})).OK(t)
	for range 100 {
		check.OK(t, j.Append(1, []byte("a reply that was paid for")))
	}
	check.OK(t, j.Close())
	whole := check.Of(os.ReadFile(path)).OK(t)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	newer := bytes.Clone(whole)
	newer[7]++
	for name, tt := range map[string]struct {
		data    []byte
		is      error
		says    string
		records string // in the repaired file; "" is no repair
	}{
		"whole":      {whole, nil, "100 whole records of test/1.\n", "the 100 whole"},
		"torn":       {whole[:len(whole)-3], errTorn, "repeats the call.\nIt begins: ", "the 99 whole"},
		"damaged":    {damaged, errDamaged, "Lost: records ", "the 99 whole"},
		"newer":      {newer, journal.ErrVersion, "", ""},
		"no journal": {[]byte("notes"), journal.ErrCorrupt, "", ""},
	} {
		file := filepath.Join(dir, name)
		check.OK(t, os.WriteFile(file, tt.data, 0o600))
		var out strings.Builder
		if err := run(t.Context(), []string{"journal", "verify", file}, &out, &out); !errors.Is(err, tt.is) || (err == nil) != (tt.is == nil) || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
		out.Reset()
		err := run(t.Context(), []string{"journal", "repair", file, file + ".new"}, &out, &out)
		check.True(t, (err == nil) == (tt.records != "") && strings.Contains(out.String(), tt.records), "%s: %v\n%s", name, err, &out)
		if err != nil {
			continue
		}
		err = run(t.Context(), []string{"journal", "verify", file + ".new"}, &out, &out)
		check.True(t, err == nil, "%s, repaired: %v", name, err)
	}
	for _, args := range [][]string{nil, {"verify"}, {"repair", path}, {"mend", path}} {
		check.Is(t, run(t.Context(), append([]string{"journal"}, args...), &strings.Builder{}, &strings.Builder{}), cli.ErrUsage, "%q", args)
	}
}
