// Command peers writes the tables of docs/performance.md that compare with other programs:
// `.ci/peers NAME` measures, and pipes its figures into
//
//	go run ./docs/performance/peers NAME < figures.jsonl
//
// which writes the figures to docs/performance/NAME.jsonl and updates the table between the marks <!-- peers
// NAME --> and <!-- /peers --> of docs/performance.md. With -render it only updates the tables from the files.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
	"github.com/wildgraph/wildgraph/internal/display"
)

func main() {
	render := flag.Bool("render", false, "renew the tables from the figures that are kept, measure nothing")
	folder := flag.String("docs", "docs", "the folder of performance.md")
	flag.Parse()
	if err := run(*folder, *render, flag.Args(), os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(folder string, render bool, names []string, in io.Reader) error {
	if !render {
		if len(names) != 1 {
			return fmt.Errorf("want one NAME, of a folder in docs/performance/peers; got %d", len(names))
		}
		if err := keep(filepath.Join(folder, "performance", names[0]+".jsonl"), in); err != nil {
			return err
		}
	}
	page := filepath.Join(folder, "performance.md")
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err = renew(text, filepath.Join(folder, "performance"))
	if err != nil {
		return err
	}
	return os.WriteFile(page, text, 0o644)
}

// keep reads figures, checks them and writes them to a file.
func keep(path string, in io.Reader) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if _, err := read(bytes.NewReader(text)); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

const (
	open  = "<!-- peers "
	shut  = " -->\n"
	close = "<!-- /peers -->"
)

// renew writes the current tables between the marks of a page.
func renew(page []byte, figures string) ([]byte, error) {
	var out strings.Builder
	rest := string(page)
	for {
		before, after, found := strings.Cut(rest, open)
		out.WriteString(before)
		if !found {
			return []byte(out.String()), nil
		}
		name, body, found := strings.Cut(after, shut)
		_, behind, closed := strings.Cut(body, close)
		if !found || !closed || strings.ContainsAny(name, "/\\ \n") {
			return nil, fmt.Errorf("performance.md: the mark %q has no end: want %sNAME%s and %s", open+name, open, strings.TrimSpace(shut), close)
		}
		file, err := os.Open(filepath.Join(figures, name+".jsonl"))
		if err != nil {
			return nil, err
		}
		list, err := read(file)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("read the figures in %s.jsonl: %w", name, err)
		}
		out.WriteString(open + name + shut)
		table(&out, list)
		out.WriteString(close)
		rest = behind
	}
}

func read(r io.Reader) ([]figure.Figure, error) {
	var list []figure.Figure
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	for {
		var f figure.Figure
		err := d.Decode(&f)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read figure %d: %w", len(list)+1, err)
		}
		if f.Machine == "" && (f.What == "" || f.Who == "" || math.IsNaN(f.Value)) {
			return nil, fmt.Errorf("figure %d lacks the quantity, the program or the value", len(list)+1)
		}
		list = append(list, f)
	}
	if len(list) < 2 || list[0].Machine == "" || list[0].Date == "" {
		return nil, errors.New("no figures, or no line with date and machine before them")
	}
	return list, nil
}

// row has all measurements of one quantity.
type row struct {
	figure.Figure
	values map[string][]float64
	order  []string
}

func rows(list []figure.Figure) []*row {
	var out []*row
	at := map[[2]string]*row{}
	for _, f := range list {
		if f.Machine != "" {
			continue
		}
		key := [2]string{f.Set, f.What}
		r := at[key]
		if r == nil {
			r = &row{Figure: f, values: map[string][]float64{}}
			at[key] = r
			out = append(out, r)
		}
		if r.values[f.Who] == nil {
			r.order = append(r.order, f.Who)
		}
		r.values[f.Who] = append(r.values[f.Who], f.Value)
	}
	return out
}

// rate reports whether higher values are better.
func (r *row) rate() bool { return strings.HasSuffix(r.Unit, "/s") }

// best returns the best value of a program's rounds, and their median.
func (r *row) best(who string) (best, median float64) {
	v := slices.Sorted(slices.Values(r.values[who]))
	best, median = v[0], v[len(v)/2]
	if r.rate() {
		best = v[len(v)-1]
	}
	return best, median
}

// peers returns the other programs, the best first.
func (r *row) peers() []string {
	out := slices.DeleteFunc(slices.Clone(r.order), func(who string) bool { return who == figure.Us })
	slices.SortStableFunc(out, func(a, b string) int {
		x, _ := r.best(a)
		y, _ := r.best(b)
		switch {
		case r.Plain:
			return 0
		case r.rate():
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	})
	return out
}

// table writes the measurements as "best round / median", and how many times faster than the best other program
// this library is.
func table(w io.Writer, list []figure.Figure) {
	all := rows(list)
	if wide(w, list[0], all) {
		return
	}
	fmt.Fprintf(w, "\n%s, %s. Best round / median of the rounds; times faster than the best peer by the best rounds.\n", list[0].Date, list[0].Machine)
	set := "\x00"
	for _, r := range all {
		if r.Set != set {
			set = r.Set
			fmt.Fprintf(w, "\n| %s | unit | wildgraph | best peer | times faster | others |\n|---|---|---:|---:|---:|---|\n", set)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", r.What, r.Unit, r.cell(figure.Us, false), r.first(), r.ratio(), r.others())
	}
	fmt.Fprintln(w)
}

// wide writes one table if there are at least six sets, and else returns false. The table has a row for each
// set and other program, cells "this library / the other", and no columns that most programs lack.
func wide(w io.Writer, machine figure.Figure, all []*row) bool {
	var sets, whats, heads []string
	at := map[[2]string]*row{}
	for _, r := range all {
		at[[2]string{r.Set, r.What}] = r
		if !slices.Contains(sets, r.Set) {
			sets = append(sets, r.Set)
		}
		if !slices.Contains(whats, r.What) {
			whats = append(whats, r.What)
			heads = append(heads, strings.TrimSuffix(r.What+", "+r.Unit, ", "))
		}
	}
	if len(sets) < 6 {
		return false
	}
	compared := func(what string) (n int) {
		for _, set := range sets {
			if r := at[[2]string{set, what}]; r != nil {
				n += len(r.peers())
			}
		}
		return n
	}
	for i := len(whats) - 1; i > 0; i-- {
		if 2*compared(whats[i]) < compared(whats[0]) {
			whats, heads = slices.Delete(whats, i, i+1), slices.Delete(heads, i, i+1)
		}
	}
	fmt.Fprintf(w, "\n%s, %s. The best round, wildgraph / peer.\n", machine.Date, machine.Machine)
	fmt.Fprintf(w, "\n| | %s |\n|---%s|\n", strings.Join(heads, " | "), strings.Repeat("|---:", len(whats)))
	for _, set := range sets {
		for _, who := range at[[2]string{set, whats[0]}].peers() {
			fmt.Fprintf(w, "| %s: %s ", set, who)
			for _, what := range whats {
				fmt.Fprintf(w, "| %s / %s ", at[[2]string{set, what}].only(figure.Us), at[[2]string{set, what}].only(who))
			}
			fmt.Fprintln(w, "|")
		}
	}
	fmt.Fprintln(w)
	return true
}

// only returns the best value of a program's rounds as text, "–" if there is none.
func (r *row) only(who string) string {
	if r == nil || r.values[who] == nil {
		return "–"
	}
	best, _ := r.best(who)
	return short(best)
}

func (r *row) cell(who string, named bool) string {
	if r.values[who] == nil {
		return "–"
	}
	best, median := r.best(who)
	text := short(best) + " / " + short(median)
	if len(r.values[who]) == 1 || r.Plain && best == median {
		text = short(best)
	}
	if named {
		return who + " " + text
	}
	return text
}

func (r *row) first() string {
	if p := r.peers(); len(p) > 0 {
		return r.cell(p[0], true)
	}
	return "–"
}

func (r *row) others() string {
	var out []string
	for _, p := range r.peers()[min(1, len(r.peers())):] {
		out = append(out, r.cell(p, true))
	}
	return strings.Join(out, "; ")
}

func (r *row) ratio() string {
	p := r.peers()
	if r.Plain || len(p) == 0 || r.values[figure.Us] == nil {
		return ""
	}
	ours, _ := r.best(figure.Us)
	theirs, _ := r.best(p[0])
	if r.rate() {
		ours, theirs = theirs, ours
	}
	return fmt.Sprintf("**%.2f**", theirs/ours)
}

// short returns a figure with three digits, or with all digits before its point if they are more.
func short(v float64) string {
	a := math.Abs(v)
	if a >= 100 || a == math.Trunc(a) {
		return display.Digits(int(math.RoundToEven(v)))
	}
	return fmt.Sprintf("%.*f", min(5, 2-int(math.Floor(math.Log10(a)))), v)
}
