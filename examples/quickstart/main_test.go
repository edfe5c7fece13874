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
)

func ask(t *testing.T, args ...string) (string, string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	err := run(t.Context(), args, &out, &errs)
	return out.String(), errs.String(), err
}

func TestShippedCorpus(t *testing.T) {
	out, _, err := ask(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Henry Winstanley lit the first tower there in 1698",
		"lighthouses.md:14",
		"two bulges", "tides.txt:3",
		"in 1908", "signals.html:11",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, data string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("notes/owl.md", "# Owls\n\nSome text.\n\nThe barn owl hears\na mouse under the snow.\n")
	write("latin1.txt", "\x81\xef")
	write(".git/config.txt", "not read")
	write("picture.png", "not text")
	out, errs, err := ask(t, "-docs", dir, "-q", "What does the barn owl hear?")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "notes/owl.md:5") || !strings.Contains(out, "“The barn owl hears a mouse under the snow.”") {
		t.Errorf("output:\n%s", out)
	}
	if !strings.Contains(errs, "skipped: load: latin1.txt: not UTF-8") || !strings.Contains(errs, "Indexed 1 files") {
		t.Errorf("messages: %s", errs)
	}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f.txt")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-docs", dir}, "-docs needs -q"},
		{[]string{"-docs", filepath.Join(dir, "none"), "-q", "x"}, "-docs"},
		{[]string{"-docs", file, "-q", "x"}, "not a folder"},
		{[]string{"-k", "0"}, "-k 0"},
		{[]string{"what", "is", "it"}, `unexpected argument "what"`},
		{[]string{"-nonsense"}, "nonsense"},
	} {
		_, errs, err := ask(t, tt.args...)
		if !errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), tt.want) || strings.HasPrefix(err.Error(), "usage") || errs != "" {
			t.Errorf("%v: %v, want %q once; %s", tt.args, err, tt.want, errs)
		}
	}
	if _, _, err := ask(t, "-docs", t.TempDir(), "-q", "x"); err == nil || errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), "no file that can be read") {
		t.Errorf("empty folder: %v", err)
	}
}
