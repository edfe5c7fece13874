// Package fake is a deterministic language model and encoder without delay, in the formats of LightRAG,
// Microsoft's GraphRAG, fast-graphrag, HippoRAG and this library. A reply depends only on the passage or
// the question in a prompt, so that programs with different prompts get the same replies.
package fake

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

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

// server speaks the interface of OpenAI.
type server struct {
	*Model
	calls, texts, asked, answered atomic.Int64
}

// Handler returns a server of the model in OpenAI's format. /count returns the numbers of calls and of
// embedded texts, and the bytes asked and answered divided by 4; /reset sets them to 0.
func (m *Model) Handler() http.Handler {
	s := &server{Model: m}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/chat/completions", s.chat)
	mux.HandleFunc("/v1/embeddings", s.embed)
	mux.HandleFunc("/count", func(w http.ResponseWriter, _ *http.Request) {
		write(w, map[string]int64{"calls": s.calls.Load(), "texts": s.texts.Load(), "asked": s.asked.Load() / 4, "answered": s.answered.Load() / 4})
	})
	mux.HandleFunc("/reset", func(http.ResponseWriter, *http.Request) {
		for _, n := range []*atomic.Int64{&s.calls, &s.texts, &s.asked, &s.answered} {
			n.Store(0)
		}
	})
	return mux
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // fails if the client disconnected
}

// content is a text, or the joined texts of its parts.
type content string

func (t *content) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(t)) == nil {
		return nil
	}
	var parts []struct{ Text string }
	err := json.Unmarshal(data, &parts)
	for _, p := range parts {
		*t += content(p.Text)
	}
	return err
}

func (s *server) chat(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Messages []struct {
			Role    string
			Content content
		}
		Stream bool
		Model  string
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var messages []Message
	asked := 0
	for _, m := range q.Messages {
		messages = append(messages, Message{m.Role, string(m.Content)})
		asked += len(m.Content)
	}
	out := s.Reply(messages)
	s.calls.Add(1)
	s.asked.Add(int64(asked))
	s.answered.Add(int64(len(out)))
	message := map[string]any{"role": "assistant", "content": out}
	reply := map[string]any{"id": "x", "object": "chat.completion", "created": 1, "model": q.Model,
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": message, "delta": message}},
		"usage":   map[string]int{"prompt_tokens": asked / 4, "completion_tokens": len(out) / 4, "total_tokens": (asked + len(out)) / 4}}
	if !q.Stream {
		write(w, reply)
		return
	}
	reply["object"] = "chat.completion.chunk"
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "data: ")
	_ = json.NewEncoder(w).Encode(reply)
	fmt.Fprint(w, "\ndata: [DONE]\n\n")
}

// inputs holds one or several texts. A list of tokens is read as a text of their numbers.
type inputs []string

func (in *inputs) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*in = inputs{one}
		return nil
	}
	if json.Unmarshal(data, (*[]string)(in)) == nil {
		return nil
	}
	var tokens [][]int
	err := json.Unmarshal(data, &tokens)
	*in = nil
	for _, t := range tokens {
		*in = append(*in, fmt.Sprint(t))
	}
	return err
}

func (s *server) embed(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Input  inputs
		Format string `json:"encoding_format"`
		Model  string
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.texts.Add(int64(len(q.Input)))
	var data []any
	for i, in := range q.Input {
		var v any = Vector(in)
		if q.Format == "base64" {
			var b []byte
			for _, x := range Vector(in) {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
			v = base64.StdEncoding.EncodeToString(b)
		}
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	write(w, map[string]any{"object": "list", "model": q.Model, "data": data, "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1}})
}
