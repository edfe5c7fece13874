// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// data is a data set with its rules of judging.
type data struct {
	*benchmark.Dataset
	short bool // judged by the rules of the multi-hop data sets
	depth int  // of the rankings that are measured, 0 is the default
}

// shortDepth is the deepest recall in papers on multi-hop data sets.
const shortDepth = 20

// loaded opens the data set: the shipped sample, a folder, or a file of questions with a folder of documents.
func loaded(ctx context.Context, s settings) (data, error) {
	d, err := open(ctx, s)
	if errors.Is(err, wildgraph.ErrUnknownDomain) || errors.Is(err, multihop.ErrUnknownSet) {
		err = cli.Usagef("-domains: %w", err)
	}
	if err != nil {
		return data{}, err
	}
	if s.indexOnly {
		for i := range d.Domains {
			d.Domains[i].Items = nil
		}
	} else if len(questions(d.Dataset, 0)) == 0 {
		return data{}, cli.Usagef("%s has no questions that are asked here; -index-only describes its graphs", d.Name)
	}
	d.Notes = append(slices.Clone(d.Notes), unfit(d.Dataset, reader.Mode(s.Mode))...)
	return d, nil
}

// unfit returns notes on questions that make figures misleading.
func unfit(set *benchmark.Dataset, mode reader.Mode) (notes []string) {
	all, unanswerable := 0, 0
	texts := make(map[string]int)
	for _, d := range set.Domains {
		for _, it := range d.Items {
			all++
			texts[d.Name+"\x00"+strings.ToLower(text.OneLine(it.Question.Text))]++
			if it.Unanswerable {
				unanswerable++
			}
		}
	}
	if unanswerable > 0 && !mode.Rejects() {
		notes = append(notes, fmt.Sprintf("%d of %s have no answer, but -mode %s answers them: -mode reject refuses if the documents have no answer", unanswerable, text.Counted(all, "question"), mode))
	}
	if again := all - len(texts); again > 0 {
		notes = append(notes, fmt.Sprintf("%d of %s repeat an earlier one word for word: they count again without new information", again, text.Counted(all, "question")))
	}
	if all < report.MinQuestions {
		notes = append(notes, fmt.Sprintf("%s: with fewer than %d there is no interval and no test, and no system is called better", text.Counted(all, "question"), report.MinQuestions))
	}
	return notes
}

func open(ctx context.Context, s settings) (data, error) {
	if s.questions != "" {
		return openOwn(ctx, s)
	}
	fsys, err := fs.Sub(sample, "sample")
	if err != nil {
		return data{}, err
	}
	if s.data != "" {
		// Links out of the folder are not followed. Pages are read as long as the program runs.
		root, err := os.OpenRoot(s.data)
		if err != nil {
			return data{}, err
		}
		if fsys = root.FS(); own.IsBEIR(fsys) {
			set, err := own.BEIR(fsys, filepath.Base(absolute(s.data)))
			return oneDomain(s, set, err)
		}
		if _, err := fs.Stat(fsys, "QA"); err != nil {
			if d, err := openHops(fsys, s); !errors.Is(err, errNoHops) {
				return d, err
			}
		}
	}
	set, err := wildgraph.Load(fsys, wildgraph.Options{Domains: s.domains})
	if err == nil && s.data == "" {
		set.Name += " sample"
	}
	return data{Dataset: set}, err
}

// anonyName names the data set with hidden names, and its folder.
const anonyName = "anonyrag"

// errNoHops is returned for a folder without any multi-hop data set.
var errNoHops = errors.New("no multi-hop data set")

// openHops reads the multi-hop data sets of a folder, all or the ones in -domains.
func openHops(fsys fs.FS, s settings) (data, error) {
	names := slices.DeleteFunc(slices.Clone(s.domains), func(name string) bool { return name == anonyName })
	named := len(names) < len(s.domains)
	set, err := multihop.Load(fsys, multihop.Options{Sets: names})
	if errors.Is(err, multihop.ErrUnknownSet) && len(names) == 0 {
		set, err = &benchmark.Dataset{Name: multihop.Name}, nil
	}
	if err != nil {
		return data{}, err
	}
	if named || len(s.domains) == 0 {
		if err := addAnonyRAG(set, fsys, named || len(set.Domains) == 0); err != nil {
			return data{}, err
		}
	}
	if len(set.Domains) == 0 {
		return data{}, errNoHops
	}
	k := multihop.DefaultK
	if s.k > 0 {
		k = s.k
	}
	if set.Published = multihop.Published(k, s.Mode); len(set.Published.Rows) == 0 {
		set.Published = multihop.Published(multihop.DefaultK, string(reader.Open))
		set.Published.Withhold("they are for 10 and 20 chunks and the modes open and reject")
	} else if s.Instruction == "" || len(s.Replaced()) > 1 {
		set.Published.Withhold("their prompt is -prompt minimal")
	}
	return data{Dataset: set, short: true, depth: shortDepth}, nil
}

// addAnonyRAG appends the languages of AnonyRAG as domains anonyrag-chs and anonyrag-eng, from a folder of
// that name or, if itself is set, from fsys.
func addAnonyRAG(set *benchmark.Dataset, fsys fs.FS, itself bool) error {
	folder, err := fs.Sub(fsys, anonyName)
	if err != nil {
		return err
	}
	if info, err := fs.Stat(fsys, anonyName); err != nil || !info.IsDir() {
		if folder = fsys; !itself {
			return nil
		}
		if names, err := fs.Glob(fsys, "*_qa.json*"); err != nil || len(names) == 0 {
			return err // another data set's folder
		}
	}
	hidden, err := anonyrag.Load(folder)
	if err != nil {
		return fmt.Errorf("%s: %w", anonyName, err)
	}
	for _, t := range hidden.Types {
		t.K, t.Swept = multihop.DefaultK, true
		set.Types = append(set.Types, t)
	}
	for _, d := range hidden.Domains {
		d.Name = anonyName + "-" + d.Name
		set.Domains = append(set.Domains, d)
	}
	set.Notes = append(set.Notes, hidden.Notes...)
	return nil
}

// openOwn reads a file of questions and a folder of documents.
func openOwn(ctx context.Context, s settings) (data, error) {
	if rel, err := filepath.Rel(absolute(s.docs), absolute(s.questions)); s.docs != "" && err == nil && filepath.IsLocal(rel) {
		return data{}, cli.Usagef("-questions %s is in the folder of -docs and may be indexed: move it out", s.questions)
	}
	var docs fs.FS
	if s.docs != "" {
		var err error
		if docs, err = load.Root(s.docs); err != nil {
			return data{}, cli.Usagef("-docs: %w", err)
		}
	}
	f, err := os.Open(s.questions)
	if err != nil {
		return data{}, err
	}
	defer f.Close() // only read
	files := cli.NewFiles()
	defer files.Close() // all was read
	set, err := own.Load(ctx, filepath.Base(s.questions), f, docs, files.Options)
	return oneDomain(s, set, err)
}

// oneDomain returns a data set that has only one domain.
func oneDomain(s settings, set *benchmark.Dataset, err error) (data, error) {
	if err != nil {
		return data{}, err
	}
	if len(s.domains) > 0 {
		return data{}, cli.Usagef("-domains: %s has one domain", set.Name)
	}
	return data{Dataset: set}, nil
}

// absolute returns the absolute path of a file, or name if it cannot be determined.
func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// describe prints the data set and the kit of a run.
func describe(w io.Writer, s settings, d data) {
	var domains []string
	pages, bytes := 0, int64(0)
	for _, of := range d.Domains {
		pages, bytes = pages+of.Pages, bytes+of.Bytes
		if d.short {
			domains = append(domains, of.Name)
		}
	}
	name := d.Name
	if len(domains) > 0 && len(domains) < 10 {
		name += " (" + strings.Join(domains, ", ") + ")"
	}
	fmt.Fprintf(w, "%s: %s, %s (%.1f MB), %s. Kit: %s.\n",
		name, text.Counted(len(d.Domains), "domain"), text.Counted(pages, "page"), float64(bytes)/1e6, text.Counted(len(questions(d.Dataset, s.Limit)), "question"), s.KitName())
	for _, note := range d.Notes {
		fmt.Fprintln(w, "Note:", text.OneLine(note))
	}
}
