package fake

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"regexp"
	"slices"
	"strings"
)

var (
	names     = regexp.MustCompile(`[A-Z][\p{L}'’-]+(?: (?:of |the |de )?[A-Z][\p{L}'’-]+){0,3}`)
	words     = regexp.MustCompile(`\p{L}+`)
	ascii     = regexp.MustCompile(`[a-z0-9]+`)
	sentences = regexp.MustCompile(`[^.!?\n]+[.!?]?`)
	unmarked  = strings.NewReplacer("<|", "", "|>", "", "##", "", `"`, "")
)

const (
	window   = 56 // first bytes of a passage that identify it
	maxSaid  = 200
	maxNames = 12
	minTheme = 6
	dim      = 384
)

// Model is a fake language model that replies to prompts about the passages of a data set.
type Model struct {
	// Hard makes replies like a real model: names in other cases or in quotes, reversed and
	// repeated pairs, loops, ends that are not listed, numbers, long names.
	Hard      bool
	passages  map[string]string // by the first bytes of their texts
	questions []string
}

// NewModel returns a model for the passages of data, with [Note], and its questions.
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

// entitiesOf returns the names of a text, each with its sentence.
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

// record is an entity, or a relation if b is not empty.
type record struct {
	a, b, kind, said string
	weight           int
}

// records returns the records of a passage, the same in every format.
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

// theme returns a word of a sentence, as the keyword of a relation.
func theme(s string) string {
	for _, w := range words.FindAllString(s, -1) {
		if len(w) >= minTheme && w == strings.ToLower(w) {
			return w
		}
	}
	return "mention"
}

// Message is one message of a prompt.
type Message struct{ Role, Text string }

// passage returns the last passage in a text.
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
			if found, ok := m.passage(msg.Text); ok { // follows examples, precedes gleaning
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

// merged is the reply to all other prompts: descriptions that are merged, answers.
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

// chosen returns the facts of a list in a prompt that share a word with the question, at most four.
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
		panic(err) // texts and numbers
	}
	return string(data)
}

// Vector returns a bag of hashed words, of length 1. Words are ASCII, because HippoRAG embeds the ASCII
// letters of a name alone; no two weigh the same, so that other texts have other similarities.
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
