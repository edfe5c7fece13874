// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
)

// paragraph is one of the context of a question.
type paragraph struct {
	title     string
	sentences []string
}

// hopQuestion is a question of HotpotQA or 2WikiMultiHopQA.
type hopQuestion struct {
	ID       string          `json:"_id"`
	OtherID  string          `json:"id"` // in tables of HotpotQA
	Question string          `json:"question"`
	Answer   string          `json:"answer"`
	AnswerID string          `json:"answer_id"` // 2Wiki: of Wikidata
	Type     string          `json:"type"`
	Facts    facts           `json:"supporting_facts"`
	Context  questionContext `json:"context"`
}

// facts are the titles of the supporting facts: [[title, sentence], …], or {"title": […], "sent_id": […]} in
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
		return errors.New(`"supporting_facts" is no list of [title, sentence]`)
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

// questionContext holds the paragraphs of a question: [[title, [sentence, …]], …], or {"title": […], "sentences":
// [[…], …]} in tables.
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
		return errors.New(`"context" is no list of [title, sentences]`)
	}
	return nil
}

// loadHops reads HotpotQA or 2Wiki; item returns the type and the aliases of a question.
func loadHops(joiner string, item func(q hopQuestion, aliases map[string][]string) benchmark.Item) func(fs.FS, string, string) (loadedSet, error) {
	return func(fsys fs.FS, set, file string) (loadedSet, error) {
		r, err := newHopReader(fsys, file, joiner)
		if err != nil {
			return loadedSet{}, err
		}
		aliases, err := readAliases(fsys, beside(file, "id_aliases.json"))
		if err != nil {
			return loadedSet{}, err
		}
		err = records(fsys, file, func(_ int, q hopQuestion) error {
			it := item(q, aliases)
			it.Question = graphrag.Question{ID: q.ID, Text: q.Question}
			if it.Question.ID == "" {
				it.Question.ID = q.OtherID
			}
			it.Reference = q.Answer
			var gold, all []graphrag.Document
			for _, p := range q.Context {
				d := graphrag.Document{Title: p.title, Text: strings.Join(p.sentences, joiner)}
				all = append(all, d)
				if slices.Contains(q.Facts, p.title) {
					gold = append(gold, d)
				}
			}
			for _, title := range q.Facts { // a paragraph that is not in the context
				if !slices.ContainsFunc(gold, func(d graphrag.Document) bool { return d.Title == title }) {
					gold = append(gold, graphrag.Document{Title: title})
				}
			}
			return r.add(set, it, gold, all)
		})
		if err != nil {
			return loadedSet{}, err
		}
		return r.part(set)
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

// alias is a line of 2Wiki's file of other names.
type alias struct {
	ID       string   `json:"Q_id"`
	Aliases  []string `json:"aliases"`
	Demonyms []string `json:"demonyms"`
}

// readAliases reads the file if it is there.
func readAliases(fsys fs.FS, file string) (map[string][]string, error) {
	out := make(map[string][]string)
	if _, err := fs.Stat(fsys, file); errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	err := records(fsys, file, func(_ int, a alias) error {
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
	r, err := newHopReader(fsys, file, "")
	if err != nil {
		return loadedSet{}, err
	}
	unanswerable := 0
	err = records(fsys, file, func(_ int, q musiqueQuestion) error {
		if q.Answerable != nil && !*q.Answerable {
			unanswerable++
			return nil
		}
		it := benchmark.Item{
			Type: fmt.Sprintf("%d-hop", len(q.Hops)), Question: graphrag.Question{ID: q.ID, Text: q.Question}, Reference: q.Answer,
		}
		if hops, _, ok := strings.Cut(q.ID, "hop"); ok && len(q.Hops) == 0 { // 2hop__1_2, 3hop1__1_2_3
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
	if err != nil {
		return loadedSet{}, err
	}
	p, err := r.part(set)
	if unanswerable > 0 {
		p.notes = append(p.notes, fmt.Sprintf("left out, having no answer: %d questions", unanswerable))
	}
	return p, err
}

// hopReader collects questions over passages. Without a corpus the passages are the paragraphs of all
// questions.
type hopReader struct {
	passages *passages
	own      bool // there is a corpus
	file     string
	items    []benchmark.Item
	gold     [][]graphrag.Document // of the items
	seen     map[string]bool
}

func newHopReader(fsys fs.FS, file, joiner string) (*hopReader, error) {
	p := &passages{byText: make(map[string]string), byTitle: make(map[string][]string)}
	r := &hopReader{passages: p, file: file, seen: make(map[string]bool)}
	ext := path.Ext(file)
	corpus := strings.TrimSuffix(file, ext) + "_corpus" + ext
	if _, err := fs.Stat(fsys, corpus); errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	r.own = true
	return r, r.passages.read(fsys, corpus, joiner)
}

// add checks and adds a question.
func (r *hopReader) add(set string, it benchmark.Item, gold, all []graphrag.Document) error {
	if err := checkItem(set, it, r.seen); err != nil {
		return err
	}
	if len(gold) == 0 {
		return errors.New("no paragraph is marked as gold")
	}
	if !r.own {
		for _, d := range all {
			r.passages.add(d.Title, d.Text)
		}
	}
	for _, d := range gold {
		if len(r.passages.unit(d.Title, d.Text)) == 0 {
			return fmt.Errorf("the gold paragraph %.80q is not in the corpus", d.Title)
		}
	}
	r.items, r.gold = append(r.items, it), append(r.gold, gold)
	return nil
}

// part joins the questions to the passages, which are now complete.
func (r *hopReader) part(set string) (loadedSet, error) {
	if len(r.items) == 0 {
		return loadedSet{}, fmt.Errorf("%s holds no question", r.file)
	}
	for i, gold := range r.gold {
		for _, d := range gold {
			unit := r.passages.unit(d.Title, d.Text)
			if !slices.ContainsFunc(r.items[i].Gold, func(u benchmark.Unit) bool { return slices.Equal(u, unit) }) {
				r.items[i].Gold = append(r.items[i].Gold, unit)
			}
		}
	}
	p := loadedSet{domains: []benchmark.Domain{benchmark.NewDomain(set, r.passages.docs, r.items)}}
	if !r.own {
		p.notes = append(p.notes, "no corpus stands beside "+r.file+": the passages are the paragraphs of its questions")
	} else if r.passages.repeated > 0 {
		p.notes = append(p.notes, fmt.Sprintf("passages that stand in the corpus before: %d", r.passages.repeated))
	}
	return p, nil
}
