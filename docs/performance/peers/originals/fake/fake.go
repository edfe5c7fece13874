// Package fake is a deterministic language model and encoder without delay, in the formats of LightRAG,
// Microsoft's GraphRAG, fast-graphrag, HippoRAG and this library. A reply depends only on the passage or
// the question in a prompt, so that programs with different prompts get the same replies.
package fake

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
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

// Note is the passage that the measurement of an insert adds to an index.
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
	longest          = 1000 // largest size of a paragraph in bytes: longer ones are tables
)

// Sample returns passages of prose from the pages of a sample of WildGraphBench, and the sample's questions
// with further questions about passages.
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

// add splits a paragraph between sentences into passages of at least window bytes. It adds the passages whose
// first window bytes no other passage has.
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

// Read reads the JSON of a Data from a file.
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

// server answers requests in OpenAI's format.
type server struct {
	*Model
	calls, texts, asked, answered atomic.Int64
}

// Handler returns a server of the model in OpenAI's format. /count returns the numbers of calls and of embedded
// texts, and a quarter of the bytes of prompts and of replies; /reset sets all to 0.
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

// content is the content of a message in JSON: a text, or parts whose texts are joined.
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

// inputs holds the texts to embed: one or several. A list of tokens becomes a text of their numbers.
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

var (
	names     = regexp.MustCompile(`[A-Z][\p{L}'’-]+(?: (?:of |the |de )?[A-Z][\p{L}'’-]+){0,3}`)
	words     = regexp.MustCompile(`\p{L}+`)
	ascii     = regexp.MustCompile(`[a-z0-9]+`)
	sentences = regexp.MustCompile(`[^.!?\n]+[.!?]?`)
	unmarked  = strings.NewReplacer("<|", "", "|>", "", "##", "", `"`, "")
)

const (
	window   = 56 // number of first bytes that identify a passage
	maxSaid  = 200
	maxNames = 12
	minTheme = 6
	dim      = 384
)

// Model is a fake language model that replies to prompts about the passages of a data set.
type Model struct {
	// Hard gives replies the faults of real models: names in other cases or in quotes, reversed and repeated
	// pairs, loops, relations of unlisted entities, numbers and long texts as names.
	Hard      bool
	passages  map[string]string // by the first window bytes of their texts
	questions []string
}

// NewModel returns a model that knows the passages and questions of d, and [Note].
func NewModel(d Data, hard bool) *Model {
	m := &Model{Hard: hard, passages: make(map[string]string), questions: d.Questions}
	for _, p := range append(slices.Clone(d.Passages), Note) {
		if len(p.Text) >= window {
			m.passages[p.Text[:window]] = p.Document()
		}
	}
	return m
}

type namedSentence struct{ name, said string }

// entitiesOf returns the names in a text, each with the sentence where it first occurs.
func entitiesOf(text string) (out []namedSentence) {
	seen := map[string]bool{}
	for _, s := range sentences.FindAllString(text, -1) {
		for _, n := range names.FindAllString(s, -1) {
			k := strings.ToLower(n)
			if seen[k] || len(n) <= 3 {
				continue
			}
			seen[k] = true
			said := strings.TrimSpace(s)
			out = append(out, namedSentence{n, strings.ToValidUTF8(unmarked.Replace(said[:min(len(said), maxSaid)]), "")})
			if len(out) == maxNames {
				return out
			}
		}
	}
	return out
}

// record is the entity a, or a relation between a and b if b is not empty.
type record struct {
	a, b, kind, said string
	weight           int
}

// records returns the records of a passage, which replies in all formats contain.
func (m *Model) records(text string) (out []record) {
	es := entitiesOf(text)
	h := fnv.New32a()
	h.Write([]byte(text))
	turn := int(h.Sum32() >> 3)
	name := func(i int) string {
		n := es[i].name
		if !m.Hard {
			return n
		}
		switch (turn + i) % 11 {
		case 1:
			return strings.ToLower(n)
		case 2:
			return strings.ToUpper(n)
		case 3:
			return `"` + n + `"`
		case 4:
			return n + " "
		case 5:
			return strings.ReplaceAll(n, " ", "  ")
		}
		return n
	}
	for i, e := range es {
		out = append(out, record{a: name(i), kind: "Other", said: e.said})
	}
	for i := 1; i < len(es); i++ {
		out = append(out, record{name(i - 1), name(i), theme(es[i].said), es[i].said, 5})
	}
	if m.Hard && len(es) > 2 {
		out = append(out,
			record{name(1), name(0), "reverse", "Turned round, " + es[1].said, 3},
			record{es[2].name, strings.ToLower(es[2].name), "loop", "A loop.", 1},
			record{es[2].name, "Somebody Unlisted", "unlisted", es[2].name + " met somebody unlisted.", 2},
			record{a: "12", kind: "Other", said: "A number."},
			record{a: "1.5", kind: "Other", said: "A version."},
			record{a: strings.Repeat("Long Name ", 30) + es[0].name, kind: "Other", said: "A long name."},
			record{a: es[0].name, kind: "Other, Thing", said: "Once more and longer, with other words than before and still more of them, " + es[0].said},
			record{es[0].name, es[1].name, "twice", es[1].said, 4})
	}
	return out
}

// theme returns a word of a sentence that becomes the keyword of a relation.
func theme(s string) string {
	for _, w := range words.FindAllString(s, -1) {
		if len(w) >= minTheme && w == strings.ToLower(w) {
			return w
		}
	}
	return "mention"
}

// Message is a message of a prompt.
type Message struct{ Role, Text string }

// passage returns the last known passage in a text.
func (m *Model) passage(text string) (string, bool) {
	for i := len(text) - window; i >= 0; i-- {
		if p, ok := m.passages[text[i:i+window]]; ok {
			return p, true
		}
	}
	return "", false
}

// Reply answers a prompt.
func (m *Model) Reply(messages []Message) string {
	var all, user, p, q string
	turns, ofPassage := 0, false
	for _, msg := range messages {
		all += "\n" + msg.Text
		switch msg.Role {
		case "user":
			user = msg.Text
			if found, ok := m.passage(msg.Text); ok { // the passage is in the last user message with one
				p, ofPassage = found, true
			}
		case "assistant":
			turns++
		}
	}
	for _, known := range m.questions {
		if strings.Contains(user, known) {
			q = known
			break
		}
	}
	has := func(s string) bool { return strings.Contains(all, s) }
	switch {
	case has("fact_before_filter"):
		return "[[ ## fact_after_filter ## ]]\n" + object("fact", chosen(user, q)) + "\n\n[[ ## completed ## ]]"
	case has("Choose at most four"):
		return object("fact", chosen(user, q))
	case has(`"triples"`) && ofPassage:
		triples := [][]string{}
		for _, r := range m.records(p) {
			if r.b != "" {
				triples = append(triples, []string{r.a, r.kind, r.b})
			}
		}
		return object("triples", triples)
	case has("named_entities") && !has("high_level_keywords"):
		if !ofPassage {
			p = q
		}
		return object("named_entities", named(p))
	case has("high_level_keywords"):
		return keywords(q)
	case has(`"generic"`) && q != "":
		return object("named", named(q), "generic", []string{})
	case has("grouped_facts"):
		return object("grouped_facts", []any{})
	case has("TEntityDescription"), has(`"description"`) && has("json_schema") && !ofPassage:
		return object("description", merged)
	case (has("other_relationships") || has("other_relations")) && ofPassage:
		return m.objects(p)
	case turns > 0 && (has("<|#|>") || has("<|>")):
		if continues.MatchString(user) {
			return "N"
		}
		return "<|COMPLETE|>"
	case has("entity<|#|>") && ofPassage:
		return m.lines(p, "entity<|#|>%s<|#|>%s<|#|>%s\n", func(r record) string {
			return fmt.Sprintf("relation<|#|>%s<|#|>%s<|#|>%s<|#|>%s\n", r.a, r.b, r.kind, r.said)
		})
	case has(`("entity"`) && ofPassage:
		return m.lines(p, "(\"entity\"<|>%s<|>%s<|>%s)##\n", func(r record) string {
			return fmt.Sprintf("(\"relationship\"<|>%s<|>%s<|>%s<|>%d)##\n", r.a, r.b, r.said, r.weight)
		})
	case has("rating_explanation") || has("findings"):
		return report(user)
	case has(`"points"`):
		return `{"points": [{"description": "It is what the texts say [Data: Reports (1)]", "score": 50}]}`
	}
	return merged
}

// merged is the reply to all other prompts, such as those that merge descriptions or ask for an answer.
const merged = "It is what the texts say."

var continues = regexp.MustCompile(`Answer Y|YES|Y or N|Y if|\(Y/N\)`)

func (m *Model) lines(p, entity string, relation func(record) string) string {
	var b strings.Builder
	for _, r := range m.records(p) {
		if r.b == "" {
			fmt.Fprintf(&b, entity, r.a, r.kind, r.said)
		} else {
			b.WriteString(relation(r))
		}
	}
	return b.String() + "<|COMPLETE|>"
}

func (m *Model) objects(p string) string {
	var entities, relations []map[string]string
	for _, r := range m.records(p) {
		if r.b == "" {
			entities = append(entities, map[string]string{"name": r.a, "type": "Other", "desc": r.said, "description": r.said})
		} else {
			relations = append(relations, map[string]string{"source": r.a, "target": r.b, "desc": r.said, "description": r.said})
		}
	}
	return object("entities", entities, "relationships", relations, "other_relationships", []any{})
}

func keywords(q string) string {
	high := []string{}
	for _, w := range words.FindAllString(q, -1) {
		if len(w) > 4 && w == strings.ToLower(w) {
			high = append(high, w)
		}
	}
	low := named(q)
	if len(low) == 0 {
		low = high
	}
	return object("high_level_keywords", high, "low_level_keywords", low)
}

func report(user string) string {
	title := "A community"
	if es := entitiesOf(user[len(user)/2:]); len(es) > 0 {
		title = es[0].name
	}
	finding := map[string]string{"summary": title, "explanation": title + " stands with others."}
	return object("title", title, "summary", title+" and others.", "rating", 5.0, "rating_explanation", "Middling.", "findings", []any{finding})
}

// chosen returns at most four facts of the list in a prompt: the first ones that share a word with the
// question.
func chosen(prompt, q string) [][]string {
	at := max(strings.LastIndex(prompt, `{"fact": [[`), strings.LastIndex(prompt, `{"fact":[[`))
	out := [][]string{}
	var all struct{ Fact [][]string }
	if at < 0 || json.NewDecoder(strings.NewReader(prompt[at:])).Decode(&all) != nil {
		return out
	}
	asked := ascii.FindAllString(strings.ToLower(q), -1)
	for _, f := range all.Fact {
		shared := func(w string) bool { return len(w) > 3 && slices.Contains(asked, w) }
		if len(out) < 4 && slices.ContainsFunc(ascii.FindAllString(strings.ToLower(strings.Join(f, " ")), -1), shared) {
			out = append(out, f)
		}
	}
	return out
}

func named(text string) []string {
	out := []string{}
	for _, e := range entitiesOf(text) {
		out = append(out, e.name)
	}
	return out
}

// object returns a JSON object of pairs of keys and values.
func object(pairs ...any) string {
	o := make(map[string]any)
	for p := range slices.Chunk(pairs, 2) {
		o[p[0].(string)] = p[1]
	}
	data, err := json.Marshal(o)
	if err != nil {
		panic(err) // cannot fail for texts and numbers
	}
	return string(data)
}

// Vector returns the bag of hashed words of a text, as a unit vector. It reads ASCII words only, because
// HippoRAG embeds only the ASCII letters of a name. Words differ in weight, so that different texts differ in
// similarity.
func Vector(text string) []float32 {
	v := make([]float32, dim)
	for _, w := range ascii.FindAllString(strings.ToLower(text), -1) {
		h := fnv.New64a()
		h.Write([]byte(w))
		x := h.Sum64()
		weight := 1 + float32(x%9973)/99730
		for range 4 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			v[(x>>8)%dim] += weight * float32(int(x&1)*2-1)
		}
	}
	sum := 0.
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		v[0], sum = 1, 1
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}
