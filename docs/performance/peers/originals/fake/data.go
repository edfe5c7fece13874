// Package fake is a deterministic language model and encoder without delay, in the formats of LightRAG,
// Microsoft's GraphRAG, fast-graphrag, HippoRAG and this library. A reply depends only on the passage or
// the question in a prompt, so that programs with different prompts get the same replies.
package fake

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
)

// Passage is a text with a title.
type Passage struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Document returns the text that programs index.
func (p Passage) Document() string { return p.Title + "\n" + p.Text }

// Note is the passage that is inserted into an index.
var Note = Passage{"A new note", "Ada Lovelace wrote to Charles Babbage in London about the Analytical Engine, and Babbage answered her from Dorset Street."}

// Data holds the passages that programs index and the questions they answer.
type Data struct {
	Passages  []Passage `json:"passages"`
	Questions []string  `json:"questions"`
}

var (
	linked    = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()]*\)`)
	sentenced = regexp.MustCompile(`[.!?] \p{Lu}`)
)

const (
	sampled          = 200
	sampledQuestions = 100
	longest          = 1000 // bytes of a paragraph: longer ones are tables
)

// Sample cuts the pages of a sample of WildGraphBench into passages of prose, and adds questions about
// passages to the sample's questions.
func Sample(dir string) (Data, error) {
	var d Data
	pages, questions, err := figure.Pages(dir)
	if err != nil {
		return d, err
	}
	for _, page := range pages {
		for line := range strings.Lines(page.Text) {
			line = strings.Trim(linked.ReplaceAllString(line, "$1"), " *#>-\r\n")
			if len(line) >= window && len(line) <= longest && !strings.Contains(line, "http") && strings.Count(line, "|") < 2 && line[0] != '[' {
				d.add(strings.TrimSuffix(page.ID, ".txt"), line)
			}
		}
	}
	d.Questions = questions
	d.Passages = d.Passages[:min(sampled, len(d.Passages))]
	for i := 0; i < len(d.Passages) && len(d.Questions) < sampledQuestions; i += 2 {
		es := entitiesOf(d.Passages[i].Document())
		d.Questions = append(d.Questions, fmt.Sprintf("What is told of %s and %s?", es[0].name, es[len(es)-1].name))
	}
	return d, nil
}

// add cuts a paragraph between sentences into passages of at least window bytes, and adds the ones with new
// beginnings.
func (d *Data) add(title, text string) {
	for len(text) >= window {
		cut := len(text)
		for _, at := range sentenced.FindAllStringIndex(text, -1) {
			if at[0]+1 >= window && len(text)-at[0] > window {
				cut = at[0] + 1
				break
			}
		}
		part := text[:cut]
		text = strings.TrimSpace(text[cut:])
		known := func(p Passage) bool { return p.Text[:window] == part[:window] }
		if len(entitiesOf(title+"\n"+part)) > 1 && !slices.ContainsFunc(d.Passages, known) {
			d.Passages = append(d.Passages, Passage{title, part})
		}
	}
}

// Read reads data from a file of JSON.
func Read(file string) (d Data, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(data, &d)
}

// MuSiQue returns the passages and questions of the sample of MuSiQue in a folder.
func MuSiQue(dir string) (d Data, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "musique_train_corpus.json"))
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(data, &d.Passages); err != nil {
		return d, err
	}
	var asked []struct{ Question string }
	if data, err = os.ReadFile(filepath.Join(dir, "musique_train.json")); err != nil {
		return d, err
	}
	err = json.Unmarshal(data, &asked)
	for _, q := range asked {
		d.Questions = append(d.Questions, q.Question)
	}
	return d, err
}
