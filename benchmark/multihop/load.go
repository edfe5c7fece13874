// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// Layout is the layout of a folder that [Load] reads.
var Layout = benchmark.Layout{
	Files:   "questions of one of " + strings.Join(Sets(), ", ") + ", in the folder or in one in it",
	Domains: Sets(),
	Judges:  judges(nil),
	Recognise: func(fsys fs.FS, o benchmark.LoadOptions) bool {
		_, err := find(fsys, nil)
		if err != nil && len(o.Domains) > 0 {
			_, err = find(fsys, o.Domains)
		}
		return err == nil
	},
	Load: Load,
}

// layout describes the files of a data set.
type layout struct {
	// files are possible names of its questions, the first existing of which is read; they may be patterns.
	// Names that begin with "?" are accepted only in a folder whose name begins with own; with alone the first
	// one also in the folder itself, if that holds no other data set.
	files []string
	own   string
	alone bool
	load  func(fsys fs.FS, set, file string) (loadedSet, error)
}

var layouts = map[string]layout{
	HotpotQA: {
		files: []string{"hotpotqa.json", "hotpotqa_train.json", "hotpot_dev_distractor_v1.json", "hotpot_train_v1.1.json"},
		load: loadHops("", func(q hopQuestion, _ map[string][]string) benchmark.Item {
			return benchmark.Item{Type: strings.TrimSpace(q.Type)}
		}),
	},
	TwoWiki: {
		files: []string{"2wikimultihopqa.json", "2wikimultihopqa_train.json", "?dev.json", "?train.json"}, own: "2wiki",
		load: loadHops(" ", twoWikiItem),
	},
	MuSiQue: {
		files: []string{"musique.json", "musique_train.json", "musique_ans_v1.0_dev.jsonl", "musique_full_v1.0_dev.jsonl", "musique_ans_v1.0_train.jsonl"},
		load:  loadMuSiQue,
	},
	Medical:   {files: benchFiles("medical"), load: loadBench},
	Novel:     {files: benchFiles("novel"), load: loadBench},
	Textbooks: {files: []string{"Question/OE.jsonl", "question/OE.jsonl", "questions/OE.jsonl", "Questions/OE.jsonl"}, load: loadTextbooks},
	AnonyRAG:  {files: []string{"?*_[qQ][aA]*.json*", "?*[qQ][aA]*.json*", "?*[qQ]uestions*.json*", "?*.parquet"}, own: AnonyRAG, alone: true, load: loadAnonyRAG},
}

// Load reads the data sets of a folder, each from the folder itself or from one in it. All problems are
// reported together, the first few of each file; problems of a record are [*jsonl.Error]. Published rows are for
// 10 and 20 chunks, the modes open and reject, and the prompt of the paper; without a mode there are none.
func Load(fsys fs.FS, o benchmark.LoadOptions) (*benchmark.Dataset, error) {
	found, err := find(fsys, o.Domains)
	if err != nil {
		return nil, err
	}
	set := &benchmark.Dataset{Name: Name, Depth: depth}
	var others []benchmark.Type
	var problems []error
	for _, name := range Sets() {
		file, ok := found[name]
		if !ok {
			continue
		}
		p, err := layouts[name].load(fsys, name, file)
		if err != nil {
			problems = append(problems, fmt.Errorf("multihop: %s: %w", name, err))
			continue
		}
		for i := range p.domains {
			if base := path.Base(file); strings.Contains(base, "train") {
				p.domains[i].Altered = "these are training questions, of " + base
			}
		}
		set.Domains = append(set.Domains, p.domains...)
		others = append(others, p.types...)
		for _, n := range p.notes {
			set.Notes = append(set.Notes, name+": "+n)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	set.Types, set.Judges = append(types(set.Items()), others...), judges(others)
	if o.Mode == "" {
		return set, nil
	}
	if set.Published = Published(cmp.Or(o.K, DefaultK), o.Mode); len(set.Published.Rows) == 0 {
		set.Published = Published(DefaultK, "open")
		set.Published.Withhold("they are for 10 and 20 chunks and the modes open and reject")
	} else if o.OwnPrompt {
		set.Published.Withhold("their prompt is -prompt minimal")
	}
	return set, nil
}

// find returns the files of questions by the name of the data set: the wanted ones, or all.
func find(fsys fs.FS, wanted []string) (map[string]string, error) {
	for _, name := range wanted {
		if !slices.Contains(Sets(), name) {
			return nil, fmt.Errorf("multihop: %w %q; there are %s", benchmark.ErrUnknownDomain, name, strings.Join(Sets(), ", "))
		}
	}
	folders := []string{"."}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("multihop: %w", err)
	}
	for _, e := range entries {
		if info, err := fs.Stat(fsys, e.Name()); err == nil && info.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			folders = append(folders, e.Name())
		}
	}
	found := make(map[string]string)
	for _, name := range Sets() {
		if len(wanted) > 0 && !slices.Contains(wanted, name) {
			continue
		}
		if file := layouts[name].find(fsys, folders, len(wanted) > 0); file != "" {
			found[name] = file
		} else if len(wanted) > 0 {
			return nil, fmt.Errorf("multihop: %w: no %s here; its questions are in one of %s", benchmark.ErrUnknownDomain, name, strings.ReplaceAll(strings.Join(layouts[name].files, ", "), "?", ""))
		}
	}
	for _, name := range Sets() {
		l := layouts[name]
		l.files = l.files[:1]
		if file := l.find(fsys, folders[:1], true); l.alone && len(found) == 0 && file != "" {
			found[name] = file
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("multihop: %w: no data set is in this folder, nor in those in it; there are %s", benchmark.ErrUnknownDomain, strings.Join(Sets(), ", "))
	}
	return found, nil
}

// find returns the first file of questions in any of the folders, "" without.
func (l layout) find(fsys fs.FS, folders []string, named bool) string {
	for _, dir := range folders {
		for _, f := range l.files {
			file, plain := strings.CutPrefix(f, "?")
			if plain && !strings.HasPrefix(strings.ToLower(dir), l.own) && !(named && dir == ".") {
				continue
			}
			sub, err := fs.Sub(fsys, dir)
			if err != nil {
				continue
			}
			names, _ := fs.Glob(sub, file) // the patterns are valid
			for _, name := range names {
				if info, err := fs.Stat(sub, name); err == nil && !info.IsDir() {
					return path.Join(dir, name)
				}
			}
		}
	}
	return ""
}

// MaxRecord is the largest record of a file, in bytes; a novel has less than 2 MB.
const MaxRecord = 64 << 20

// loadedSet is one data set. Types are the ones that are not among kinds.
type loadedSet struct {
	domains []benchmark.Domain
	types   []benchmark.Type
	notes   []string
}

// beside returns the path of another file in the folder of one.
func beside(file, name string) string { return path.Join(path.Dir(file), name) }

// records calls take with each record of a file and its line.
func records[T any](fsys fs.FS, file string, take func(line int, value T) error) error {
	return jsonl.Each(fsys, file, MaxRecord, take)
}

// checkItem reports the faults of a question of any data set.
func checkItem(set string, it benchmark.Item, seen map[string]bool) error {
	switch {
	case it.Question.ID == "":
		return errors.New("a question without an ID")
	case seen[it.Question.ID]:
		return fmt.Errorf("the ID %.80q stands twice", it.Question.ID)
	case strings.TrimSpace(it.Question.Text) == "":
		return errors.New("the question is empty")
	case strings.TrimSpace(it.Reference) == "":
		return errors.New("a question without an answer: that of a test set?")
	case !slices.ContainsFunc(kinds, func(k questionType) bool { return k.key == it.Type && slices.Contains(k.sets, set) }):
		return fmt.Errorf("%.80q is no type of questions of %s", strings.TrimPrefix(it.Type, set+"-"), set)
	}
	seen[it.Question.ID] = true
	return nil
}
