// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A sample is written, is the same another time, is never written over, and its labels
// come back as rates.
func TestAudit(t *testing.T) {
	dir := t.TempDir()
	file, again := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	for _, name := range []string{file, again} {
		if _, _, err := program(t, "-audit", name); err != nil {
			t.Fatal(err)
		}
	}
	a, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(again); err != nil || !bytes.Equal(a, b) {
		t.Errorf("another run writes another sample: %v", err)
	}
	if _, _, err := program(t, "-audit", file); err == nil || !strings.Contains(err.Error(), "may hold labels") {
		t.Errorf("labels are written over: %v", err)
	}
	var lines []string
	for i, line := range strings.Split(strings.TrimSpace(string(a)), "\n") {
		var x alignment
		if err := json.Unmarshal([]byte(line), &x); err != nil || x.Label != "" || x.Passage == "" || x.Triple == "" || x.Read == "" || x.Question == "" {
			t.Fatalf("line %d: %+v, %v", i+1, x, err)
		}
		x.Label = []string{"misaligned", "Aligned ", "aligned", "aligned", "unsure"}[i%5]
		out, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(out))
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines[:5], "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, _, err := program(t, "-audited", file)
	// 1 of 4 by Wilson's formula: 25.0 [4.6, 69.9].
	if err != nil || !strings.Contains(stdout, "25.0 [4.6, 69.9]") {
		t.Errorf("%v\n%s", err, stdout)
	}
}

func TestSampled(t *testing.T) {
	var all []alignment
	for i := range 300 {
		all = append(all, alignment{ID: fmt.Sprint("q/", i), Triple: fmt.Sprint(i), Similarity: float64(i) / 200})
	}
	chosen := sampled(slices.Clone(all), 1)
	var count [bands]int
	for _, a := range chosen {
		count[band(a.Similarity)]++
	}
	if diff := cmp.Diff([bands]int{perBand, perBand, perBand, perBand, perBand}, count); diff != "" {
		t.Error(diff)
	}
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	if diff := cmp.Diff(chosen, sampled(reversed, 1)); diff != "" {
		t.Errorf("the order decides: %s", diff)
	}
	if cmp.Equal(chosen, sampled(all, 2)) {
		t.Error("the seed does not decide")
	}
	for similarity, want := range map[float64]int{0: 0, .19: 0, .2: 1, .99: 4, 1: 4, 7.5: 4} {
		if got := band(similarity); got != want {
			t.Errorf("%g is in band %d, want %d", similarity, got, want)
		}
	}
}

func TestOfflineLabel(t *testing.T) {
	passage := "The Glory Guys\nIt is a film of 1965; its director was “Arnold Laven”."
	for names, want := range map[[2]string]string{
		{"the glory guys", "Arnold  LAVEN"}: aligned,
		{"The Glory Guys", "Arnold"}:        aligned,
		{"The Glory Guys", "Lave"}:          misaligned,
		{"Arnold Laven", "Sam Peckinpah"}:   misaligned,
	} {
		if got := offlineLabel(passage, names); got != want {
			t.Errorf("%q is %s, want %s", names, got, want)
		}
	}
}

// Files of strangers are read with errors that name the line, and never half.
func TestHostileAudits(t *testing.T) {
	line := func(id, label, similarity string) string {
		return fmt.Sprintf(`{"id": %q, "similarity": %s, "label": %q, "offline": ""}`, id, similarity, label)
	}
	for name, x := range map[string]struct{ text, want string }{
		"empty":               {"\n\n", "has no line"},
		"unknown label":       {line("a", "aligned", "1") + "\n" + line("b", "wrong", "1"), "2: label \"wrong\""},
		"same id":             {line("a", "aligned", "1") + "\n" + line("a", "misaligned", "1"), "line 1 already"},
		"no id":               {line("", "aligned", "1"), "no id"},
		"negative":            {line("a", "aligned", "-1"), "similarity -1"},
		"huge":                {line("a", "aligned", "1e300"), "similarity 1e+300"},
		"no number":           {line("a", "aligned", `"much"`), "1: "},
		"no JSON":             {"label,aligned", "1: "},
		"key twice":           {`{"id": "a", "label": "aligned", "label": "misaligned"}`, "1: "},
		"an unknown stand-in": {`{"id": "a", "offline": "perhaps"}`, "offline"},
		"many":                {strings.Repeat("x\n", 1000), "10: "},
	} {
		_, err := readAudit(strings.NewReader(x.text), "f.jsonl")
		if err == nil || !strings.Contains(err.Error(), x.want) || strings.Count(err.Error(), "\n") >= maxProblems {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
	if _, _, err := program(t, "-audited", t.TempDir()); err == nil {
		t.Error("a folder is read")
	}
}

func FuzzReadAudit(f *testing.F) {
	f.Add(`{"id": "a", "similarity": 0.5, "label": "aligned", "offline": "misaligned"}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := readAudit(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		table, err := a.table()
		if err != nil || len(table.Rows) != bands+1 {
			t.Errorf("%d rows, %v", len(table.Rows), err)
		}
	})
}
