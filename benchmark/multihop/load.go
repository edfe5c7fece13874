// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm/journal"
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
	// files are the possible names of the file of questions, or patterns for it; the first that exists is read.
	// A name that begins with "?" is accepted only in a folder whose name begins with own. With alone the first
	// name is accepted in the data folder itself too, if that has no other data set.
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

// Load reads the data sets of a folder, each from the folder itself or from one of its subfolders. All problems
// are reported together, the first few of each file; a problem of a record is a [*journal.LineError]. There are
// published rows for 10 or 20 chunks, the modes open and reject, and the prompt of the paper.
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

// find returns the file of questions of each wanted data set, or of all, by the name of the data set.
func find(fsys fs.FS, wanted []string) (map[string]string, error) {
	for _, name := range wanted {
		if !slices.Contains(Sets(), name) {
			return nil, fmt.Errorf("multihop: %w %q; there are %s", benchmark.ErrUnknownDomain, name, strings.Join(Sets(), ", "))
		}
	}
	folders := []string{"."}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("multihop: listing the folder: %w", err)
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
			return nil, fmt.Errorf("multihop: %w: the folder has no %s, whose questions are in one of %s", benchmark.ErrUnknownDomain, name, strings.ReplaceAll(strings.Join(layouts[name].files, ", "), "?", ""))
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
		return nil, fmt.Errorf("multihop: %w: neither the folder nor a subfolder has a data set; want one of %s", benchmark.ErrUnknownDomain, strings.Join(Sets(), ", "))
	}
	return found, nil
}

// find returns the first of the files that exists in one of the folders, or "".
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
			names, _ := fs.Glob(sub, file) // the patterns are constants and valid
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

// loadedSet is the content of one data set. Its types are the ones that kinds does not list.
type loadedSet struct {
	domains []benchmark.Domain
	types   []benchmark.Type
	notes   []string
}

// beside returns the path of the file called name in the folder of another file.
func beside(file, name string) string { return path.Join(path.Dir(file), name) }

// records calls take with each record of a file and the number of its line.
func records[T any](fsys fs.FS, file string, take func(line int, value T) error) error {
	return journal.EachLine(fsys, file, MaxRecord, take)
}

// checkItem reports the faults of a question of any data set.
func checkItem(set string, it benchmark.Item, seen map[string]bool) error {
	switch {
	case it.Question.ID == "":
		return errors.New("the question has no ID")
	case seen[it.Question.ID]:
		return fmt.Errorf("two questions have the ID %.80q", it.Question.ID)
	case strings.TrimSpace(it.Question.Text) == "":
		return errors.New("the question is empty")
	case strings.TrimSpace(it.Reference) == "":
		return errors.New("the question has no answer: is this a test set?")
	case !slices.ContainsFunc(kinds, func(k questionType) bool { return k.key == it.Type && slices.Contains(k.sets, set) }):
		return fmt.Errorf("%s has no type of questions %.80q", set, strings.TrimPrefix(it.Type, set+"-"))
	}
	seen[it.Question.ID] = true
	return nil
}

// paragraph is a paragraph in the context of a question.
type paragraph struct {
	title     string
	sentences []string
}

// hopQuestion is a question of HotpotQA or 2WikiMultiHopQA.
type hopQuestion struct {
	ID       string          `json:"_id"`
	OtherID  string          `json:"id"` // HotpotQA as a table
	Question string          `json:"question"`
	Answer   string          `json:"answer"`
	AnswerID string          `json:"answer_id"` // 2Wiki: ID of the answer in Wikidata
	Type     string          `json:"type"`
	Facts    facts           `json:"supporting_facts"`
	Context  questionContext `json:"context"`
}

// facts are the titles of supporting facts: [[title, sentence], …], or {"title": […], "sent_id": […]} in
// tables.
type facts []string

func (f *facts) UnmarshalJSON(data []byte) error {
	var columns struct {
		Title []string `json:"title"`
	}
	if err := json.Unmarshal(data, &columns); err == nil {
		*f = distinct(columns.Title)
		return nil
	}
	var rows [][]json.RawMessage
	bad := json.Unmarshal(data, &rows) != nil
	titles := make([]string, len(rows))
	for i, row := range rows {
		bad = bad || len(row) == 0 || json.Unmarshal(row[0], &titles[i]) != nil
	}
	if bad {
		return errors.New(`"supporting_facts" is not a list of [title, sentence]`)
	}
	*f = distinct(titles)
	return nil
}

func distinct(all []string) []string {
	var out []string
	for _, s := range all {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// questionContext holds the paragraphs in the context of a question: [[title, [sentence, …]], …], or {"title":
// […], "sentences": [[…], …]} in tables.
type questionContext []paragraph

func (c *questionContext) UnmarshalJSON(data []byte) error {
	var columns struct {
		Title     []string   `json:"title"`
		Sentences [][]string `json:"sentences"`
	}
	if err := json.Unmarshal(data, &columns); err == nil {
		if len(columns.Title) != len(columns.Sentences) {
			return fmt.Errorf(`"context" has %d titles and %d texts`, len(columns.Title), len(columns.Sentences))
		}
		for i, title := range columns.Title {
			*c = append(*c, paragraph{title, columns.Sentences[i]})
		}
		return nil
	}
	var rows [][]json.RawMessage
	bad := json.Unmarshal(data, &rows) != nil
	for _, row := range rows {
		var p paragraph
		bad = bad || len(row) != 2 || json.Unmarshal(row[0], &p.title) != nil || json.Unmarshal(row[1], &p.sentences) != nil
		*c = append(*c, p)
	}
	if bad {
		return errors.New(`"context" is not a list of [title, sentences]`)
	}
	return nil
}

// loadHops returns the loader of HotpotQA or 2Wiki. joiner joins the sentences of a passage; item returns a
// benchmark item with the type and the aliases of a question.
func loadHops(joiner string, item func(q hopQuestion, aliases map[string][]string) benchmark.Item) func(fs.FS, string, string) (loadedSet, error) {
	return func(fsys fs.FS, set, file string) (loadedSet, error) {
		return loadPassages(fsys, set, file, joiner, func(r *hopReader) error {
			aliases, err := readAliases(fsys, beside(file, "id_aliases.json"))
			if err != nil {
				return err
			}
			return records(fsys, file, func(_ int, q hopQuestion) error {
				it := item(q, aliases)
				it.Question = graphrag.Question{ID: cmp.Or(q.ID, q.OtherID), Text: q.Question}
				it.Reference = q.Answer
				var gold, all []graphrag.Document
				for _, p := range q.Context {
					d := graphrag.Document{Title: p.title, Text: strings.Join(p.sentences, joiner)}
					all = append(all, d)
					if slices.Contains(q.Facts, p.title) {
						gold = append(gold, d)
					}
				}
				for _, title := range q.Facts { // the context may lack a paragraph with the title
					if !slices.ContainsFunc(gold, func(d graphrag.Document) bool { return d.Title == title }) {
						gold = append(gold, graphrag.Document{Title: title})
					}
				}
				return r.add(set, it, gold, all)
			})
		})
	}
}

func twoWikiItem(q hopQuestion, aliases map[string][]string) benchmark.Item {
	it := benchmark.Item{Type: "2wiki-" + strings.ReplaceAll(strings.TrimSpace(q.Type), "_", "-")}
	for _, a := range aliases[q.AnswerID] {
		if a != q.Answer {
			it.Aliases = append(it.Aliases, a)
		}
	}
	return it
}

// readAliases reads 2Wiki's file of other names of the answers, if it exists.
func readAliases(fsys fs.FS, file string) (map[string][]string, error) {
	out := make(map[string][]string)
	if _, err := fs.Stat(fsys, file); errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	err := records(fsys, file, func(_ int, a struct {
		ID       string   `json:"Q_id"`
		Aliases  []string `json:"aliases"`
		Demonyms []string `json:"demonyms"`
	}) error {
		for _, name := range append(a.Aliases, a.Demonyms...) {
			if strings.TrimSpace(name) != "" && a.ID != "" && !slices.Contains(out[a.ID], name) {
				out[a.ID] = append(out[a.ID], name)
			}
		}
		return nil
	})
	return out, err
}

// musiqueQuestion is a question of MuSiQue.
type musiqueQuestion struct {
	ID         string     `json:"id"`
	Question   string     `json:"question"`
	Answer     string     `json:"answer"`
	Aliases    []string   `json:"answer_aliases"`
	Answerable *bool      `json:"answerable"`
	Hops       []struct{} `json:"question_decomposition"`
	Paragraphs []struct {
		Title string `json:"title"`
		Text  string `json:"paragraph_text"`
		Gold  bool   `json:"is_supporting"`
	} `json:"paragraphs"`
}

func loadMuSiQue(fsys fs.FS, set, file string) (loadedSet, error) {
	unanswerable := 0
	p, err := loadPassages(fsys, set, file, "", func(r *hopReader) error {
		return records(fsys, file, func(_ int, q musiqueQuestion) error {
			if q.Answerable != nil && !*q.Answerable {
				unanswerable++
				return nil
			}
			it := benchmark.Item{
				Type: fmt.Sprintf("%d-hop", len(q.Hops)), Question: graphrag.Question{ID: q.ID, Text: q.Question}, Reference: q.Answer,
			}
			if hops, _, ok := strings.Cut(q.ID, "hop"); ok && len(q.Hops) == 0 { // IDs begin with 2hop__ or 3hop1__
				it.Type = hops + "-hop"
			}
			for _, a := range distinct(q.Aliases) {
				if strings.TrimSpace(a) != "" && a != q.Answer {
					it.Aliases = append(it.Aliases, a)
				}
			}
			var gold, all []graphrag.Document
			for _, p := range q.Paragraphs {
				d := graphrag.Document{Title: p.Title, Text: p.Text}
				all = append(all, d)
				if p.Gold {
					gold = append(gold, d)
				}
			}
			return r.add(set, it, gold, all)
		})
	})
	if unanswerable > 0 {
		p.notes = append(p.notes, fmt.Sprintf("left out, having no answer: %d questions", unanswerable))
	}
	return p, err
}

// hopReader collects questions and passages, and finds the gold passages of the questions.
type hopReader struct {
	docs     []graphrag.Document
	byText   map[string]string   // title and text, without white space → ID
	byTitle  map[string][]string // title → IDs
	repeated int
	own      bool // the data set has its own corpus
	items    []benchmark.Item
	gold     [][]graphrag.Document // gold paragraphs of each question
	seen     map[string]bool
}

// loadPassages reads a data set of questions over passages. If there is no corpus, the passages are the
// paragraphs of all questions.
func loadPassages(fsys fs.FS, set, file, joiner string, read func(r *hopReader) error) (loadedSet, error) {
	r := &hopReader{byText: make(map[string]string), byTitle: make(map[string][]string), seen: make(map[string]bool)}
	ext := path.Ext(file)
	corpus := strings.TrimSuffix(file, ext) + "_corpus" + ext
	_, err := fs.Stat(fsys, corpus)
	if r.own = !errors.Is(err, fs.ErrNotExist); r.own {
		if err := r.readCorpus(fsys, corpus, joiner); err != nil {
			return loadedSet{}, err
		}
	}
	if err := read(r); err != nil {
		return loadedSet{}, err
	}
	if len(r.items) == 0 {
		return loadedSet{}, fmt.Errorf("%s has no question", file)
	}
	for i, gold := range r.gold { // gold is found when all passages are known
		for _, d := range gold {
			unit := r.unit(d.Title, d.Text)
			if !slices.ContainsFunc(r.items[i].Gold, func(u benchmark.Unit) bool { return slices.Equal(u, unit) }) {
				r.items[i].Gold = append(r.items[i].Gold, unit)
			}
		}
	}
	p := loadedSet{domains: []benchmark.Domain{benchmark.NewDomain(set, r.docs, r.items)}}
	if !r.own {
		p.notes = append(p.notes, "no corpus stands beside "+file+": the passages are the paragraphs of its questions")
	} else if r.repeated > 0 {
		p.notes = append(p.notes, fmt.Sprintf("passages that stand in the corpus before: %d", r.repeated))
	}
	return p, nil
}

// add adds a question after checking it.
func (r *hopReader) add(set string, it benchmark.Item, gold, all []graphrag.Document) error {
	if err := checkItem(set, it, r.seen); err != nil {
		return err
	}
	if len(gold) == 0 {
		return errors.New("no paragraph is marked as gold")
	}
	if !r.own {
		for _, d := range all {
			r.addPassage(d.Title, d.Text)
		}
	}
	for _, d := range gold {
		if len(r.unit(d.Title, d.Text)) == 0 {
			return fmt.Errorf("the gold paragraph %.80q is not in the corpus", d.Title)
		}
	}
	r.items, r.gold = append(r.items, it), append(r.gold, gold)
	return nil
}
