// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxReport bounds the bytes of a report.json.
const maxReport = 256 << 20

// runFolder is a run read from its report folder.
type runFolder struct {
	letter  string // A, B, …
	dir     string
	only    string // the named system; "" is all
	config  map[string]any
	systems []string
	answers map[string]map[questionKey]report.Judgment // by system
}

// questionKey identifies a question across runs. It includes the text, because ids may be reused.
type questionKey struct{ domain, id, text string }

// readFinished reads the folder of a finished run, given as DIR or DIR:SYSTEM.
func readFinished(letter, arg string) (*runFolder, error) {
	f := &runFolder{letter: letter, dir: arg, answers: map[string]map[questionKey]report.Judgment{}}
	_, err := os.Stat(arg)
	for i := len(arg) - 1; i > 0 && errors.Is(err, fs.ErrNotExist); i-- { // the names of some systems have a colon
		if arg[i] == ':' && benchmark.ValidName(arg[i+1:]) {
			f.dir, f.only = arg[:i], arg[i+1:]
			_, err = os.Stat(f.dir)
		}
	}
	if err := f.readConfig(); err != nil {
		return nil, err
	}
	if err := f.readAnswers(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.dir, err)
	}
	if f.only != "" && f.answers[f.only] == nil {
		return nil, cli.Usagef("%s has no system %s; it has %s", f.dir, f.only, strings.Join(f.systems, ", "))
	}
	return f, nil
}

// readConfig reads the settings of the run. The report is written last, so a folder without one
// belongs to an unfinished run.
func (f *runFolder) readConfig() error {
	name := filepath.Join(f.dir, "report.json")
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has no report.json, so its run is not finished; start the run again with -out %s to finish it", f.dir, f.dir)
	}
	if err != nil {
		return err
	}
	if info.Size() > maxReport {
		return fmt.Errorf("%s has %d MB, more than the %d MB of a report", name, info.Size()>>20, maxReport>>20)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var r struct {
		Version int            `json:"version"`
		Config  map[string]any `json:"config"`
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return fmt.Errorf("%s is not a report: %w", name, err)
	}
	if r.Version != report.Version {
		return fmt.Errorf("%s has version %d, want %d: make the report again", name, r.Version, report.Version)
	}
	f.config = r.Config
	return nil
}

func (f *runFolder) readAnswers() error {
	in, err := os.Open(filepath.Join(f.dir, report.JudgmentsName))
	if err != nil {
		return err
	}
	defer in.Close() // only read
	for j, err := range report.ReadJudgments(bufio.NewReader(in)) {
		if err != nil {
			return err
		}
		of := f.answers[j.System]
		if of == nil {
			of = map[questionKey]report.Judgment{}
			f.answers[j.System] = of
			f.systems = append(f.systems, j.System)
		}
		j.Ranked = nil // saves memory: figures compare it
		q := questionKey{j.Domain, j.ID, strings.TrimSpace(j.Question)}
		if _, twice := of[q]; twice {
			return fmt.Errorf("%s answers question %s of %s twice", j.System, j.ID, j.Domain)
		}
		of[q] = j
	}
	return nil
}

// judges returns the names of the judges.
func (f *runFolder) judges() []string {
	names := map[string]bool{}
	for _, of := range f.answers {
		for _, j := range of {
			names[j.Judge] = true
		}
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// changed returns the settings that differ between two runs, sorted: "topk_qa 5 → 10".
func changed(a, b *runFolder) []string {
	keys := map[string]any{}
	maps.Copy(keys, a.config)
	maps.Copy(keys, b.config)
	delete(keys, "systems") // the table shows them
	var out []string
	for k := range keys {
		if x, y := settingText(a.config, k), settingText(b.config, k); x != y {
			out = append(out, fmt.Sprintf("%s %s → %s", k, x, y))
		}
	}
	slices.Sort(out)
	return out
}

// settingText returns a value as one short line.
func settingText(config map[string]any, key string) string {
	v, ok := config[key]
	if !ok {
		return "none"
	}
	value, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return clip(strings.Trim(string(value), `"`), 60)
}

// clip cuts a text to one line of at most n characters.
func clip(s string, n int) string {
	r := []rune(text.OneLine(s))
	if len(r) > n {
		r = append(r[:n-1], '…')
	}
	return string(r)
}
