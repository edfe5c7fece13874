// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
)

// Item is one thing a model is asked about. Real items carry their index in
// what the caller asked; canaries carry what they must come out as.
type Item struct {
	ID    string // no other of the batch has it
	Index int    // of a real item, or True or False
}

// The places of canaries, which are no indices.
const (
	True  = -1
	False = -2
)

// Canary reports whether the item is a control item.
func (i Item) Canary() bool { return i.Index < 0 }

// Want is the score a canary must get.
func (i Item) Want() int {
	if i.Index == True {
		return 1
	}
	return 0
}

// fault says what a judge did that got a canary wrong.
func (i Item) fault() string {
	if i.Index == True {
		return "denied a plain truth"
	}
	return "granted a plain falsehood"
}

// Batch is the items of one call in the order they are shown.
//
// An id is a letter and a number, and goes with a code made from the data: text
// that is judged cannot hold the hash of itself, so a verdict that merely repeats
// what stands in the data is none. The code is a part of every id, or, in a brief
// batch, stands once in the reply.
type Batch struct {
	Items []Item
	Code  string
	brief bool
}

// NewBatch numbers n real items and puts canaries between them, at places that
// follow from the seed.
func NewBatch(letter, seed string, n int, canaries ...int) Batch {
	b := number(letter, seed, n, canaries)
	for i := range b.Items {
		b.Items[i].ID += "-" + b.Code
	}
	return b
}

// Brief is a batch of several lists under one code, each list with its letter.
func Brief(seed string, lists ...List) Batch {
	all := Batch{brief: true}
	for _, l := range lists {
		b := number(l.Letter, seed, l.N, l.Canaries)
		all.Items, all.Code = append(all.Items, b.Items...), b.Code
	}
	return all
}

// List is a part of a brief batch: N real items, and canaries.
type List struct {
	Letter   string
	N        int
	Canaries []int
}

func number(letter, seed string, n int, canaries []int) Batch {
	var b Batch
	for i := range n {
		b.Items = append(b.Items, Item{Index: i})
	}
	h := sha256.Sum256([]byte("batch " + letter + seed))
	code := hex.EncodeToString(h[:])
	for i, at := range canaries {
		b.Items = slices.Insert(b.Items, position(code[8*i+8:], len(b.Items)+1), Item{Index: at})
	}
	b.Code = code[:6]
	for i := range b.Items {
		b.Items[i].ID = fmt.Sprintf("%s%d", letter, i+1)
	}
	return b
}

// Of are the items of one list, in order.
func (b Batch) Of(letter string) []Item {
	return slices.DeleteFunc(slices.Clone(b.Items), func(it Item) bool { return !strings.HasPrefix(it.ID, letter) })
}

// Pick is what stands at a real index, or the one of two strings that is a
// canary's.
func (i Item) Pick(real func(int) string, whenTrue, whenFalse string) string {
	switch i.Index {
	case True:
		return whenTrue
	case False:
		return whenFalse
	}
	return real(i.Index)
}

// Listed shows items one to a line, so that none can pass for two.
func Listed(items []Item, text func(Item) string) string {
	lines := make([]string, len(items))
	for i, it := range items {
		lines[i] = it.ID + ": " + OneLine(text(it))
	}
	return strings.Join(lines, "\n")
}

// Line is one verdict of a reply. Every prompt asks for its own part of it.
type Line struct {
	ID         json.RawMessage   `json:"id"`
	Reason     json.RawMessage   `json:"reason"`
	Score      json.RawMessage   `json:"score"`
	Gold       []json.RawMessage `json:"gold"`
	By         []json.RawMessage `json:"by"`
	Statements []string          `json:"statements"`
	More       json.RawMessage   `json:"more"`
}

type lines struct {
	Code    json.RawMessage `json:"code"`
	Results []Line          `json:"results"`
}

// Check implements what llm.Decode asks of replies.
func (l lines) Check() error {
	if l.Results == nil {
		return errors.New(`the key "results" is missing`)
	}
	return nil
}

// word is an id as it is compared.
func word(raw json.RawMessage) string { return strings.ToLower(Word(raw)) }

// Value reads a 0 or a 1 as models write them. Anything else is unusable: a
// guess would be a score.
func (l Line) Value() (int, bool) {
	switch word(l.Score) {
	case "1", "1.0", "true", "yes", "correct":
		return 1, true
	case "0", "0.0", "false", "no", "incorrect":
		return 0, true
	}
	return 0, false
}

func (l Line) same(o Line) bool {
	equal := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
	return Word(l.Score) == Word(o.Score) && slices.Equal(l.Statements, o.Statements) &&
		slices.EqualFunc(l.Gold, o.Gold, equal) && slices.EqualFunc(l.By, o.By, equal)
}

// Named finds the items that a verdict names by their ids, in order and each
// once; unknown is how many other ids it names.
func Named(ids []json.RawMessage, among []Item) (found []int, unknown int) {
	for _, raw := range ids {
		at := slices.IndexFunc(among, func(it Item) bool { return it.ID == word(raw) })
		if at < 0 {
			unknown++
		} else if !slices.Contains(found, among[at].Index) {
			found = append(found, among[at].Index)
		}
	}
	slices.Sort(found)
	return found, unknown
}

// sift finds the one line of each item that was asked about. Lines under other
// ids and repetitions are counted; a line that contradicts another of the same
// id is no verdict.
func sift(asked []Item, found []Line, p *judge.Protocol) map[string]Line {
	out := make(map[string]Line, len(asked))
	torn := make(map[string]bool)
	for _, it := range asked {
		out[it.ID] = Line{}
	}
	seen := make(map[string]bool, len(asked))
	for _, l := range found {
		id := word(l.ID)
		first, known := out[id]
		switch {
		case !known:
			p.Extra++
		case !seen[id]:
			seen[id] = true
			out[id] = l
		default:
			p.Duplicate++
			torn[id] = torn[id] || !first.same(l)
		}
	}
	for id := range out {
		if !seen[id] || torn[id] {
			delete(out, id)
		}
	}
	return out
}

// errCanary marks a batch whose canaries came out wrong.
var errCanary = errors.New("canary failed")

// ErrCrossed is a real statement matched with a canary.
var ErrCrossed = fmt.Errorf("%w: the judge matched a statement with a control item", errCanary)

// parts are the schemas of what a line of a reply may have beside its id.
var parts = map[string]string{
	"reason": `{"type":"string"}`, "score": `{"type":"integer","enum":[0,1]}`, "more": `{"type":"boolean"}`,
	"gold": `{"type":"array","items":{"type":"string"}}`, "by": `{"type":"array","items":{"type":"string"}}`, "statements": `{"type":"array","items":{"type":"string"}}`,
}

// schema is the form of a reply whose lines have these parts, in their order.
func (b Batch) schema(of []string) json.RawMessage {
	line, required, code := `"id":{"type":"string"}`, `"id"`, [2]string{}
	for _, part := range of {
		line += fmt.Sprintf(",%q:%s", part, parts[part])
		required += fmt.Sprintf(",%q", part)
	}
	if b.brief {
		code = [2]string{`"code":{"type":"string"},`, `"code",`}
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"object","additionalProperties":false,"properties":{%s"results":{"type":"array","items":`+
		`{"type":"object","additionalProperties":false,"properties":{%s},"required":[%s]}}},"required":[%s"results"]}`, code[0], line, required, code[1]))
}

// Run asks for lines with some parts until every item has a verdict that accept takes: once for all,
// once more for the missing ones. A denominator that shrinks with a careless
// reply would raise the score. Canaries are part of every call, and a reply
// without them proves nothing: then the whole batch is asked again.
func (e Exam) Run(ctx context.Context, b Batch, of []string, t *Trace, ask func([]Item) llm.Request, accept func(Item, Line) bool) error {
	open := b.Items
	for again := range 2 {
		request := ask(open)
		request.Schema, request.SchemaName = b.schema(of), request.Stage
		if again > 0 { // also another request than before: a cache would give the same reply
			request.Messages = slices.Clone(request.Messages)
			request.Messages[len(request.Messages)-1].Text += missed
		}
		found, reply, err := llm.Decode[lines](ctx, e.model, request)
		t.Charge(reply.Usage, err)
		if err != nil {
			return err
		}
		if b.brief && word(found.Code) != b.Code {
			found.Results = nil // who does not know the code has not read the prompt
		}
		verdicts := sift(open, found.Results, &t.Protocol)
		left := make(map[string]bool) // by ID
		all := false
		for _, it := range open {
			l, ok := verdicts[it.ID]
			switch {
			case !ok:
				all = all || it.Canary()
				left[it.ID] = true
			case accept(it, l):
				if it.Canary() {
					t.Protocol.Canaries++
				}
			case it.Canary():
				t.Protocol.Canaries++
				t.Protocol.FailedCanaries++
				return fmt.Errorf("%w: the judge %s", errCanary, it.fault())
			default:
				left[it.ID] = true
			}
		}
		if len(left) == 0 {
			return nil
		}
		open = slices.DeleteFunc(slices.Clone(b.Items), func(it Item) bool {
			return !all && !it.Canary() && !left[it.ID]
		})
		t.Protocol.Missing += len(left)
	}
	return &llm.Error{Kind: llm.ErrInvalidOutput, Err: errors.New("no usable verdict on every item")}
}

const missed = "\n\nA reply before this one lacked a usable verdict on some of the items. Give one on each, and copy ids and codes whole, as they stand above."

// Canary is a control item: something everybody knows, said in two ways, and
// a falsehood about it. One true and one false item stand among the real ones
// that a judge asks about. A judge that errs on them has been talked into
// something, or reads carelessly; either way its verdicts on the neighbours are
// worth nothing.
type Canary struct {
	// Key is the word by which a text would speak of the same thing; such a
	// text gets another canary.
	Key string
	// Question has the answer Fact, which Restated says too and Falsehood
	// contradicts.
	Question, Fact, Restated, Falsehood string
}

// Canaries returns the control items there are.
func Canaries() []Canary { return slices.Clone(canaries) }

var canaries = []Canary{
	{"octagon", "How many sides does an octagon have?", "An octagon has eight sides.",
		"The number of sides of an octagon is 8.", "An octagon has five sides."},
	{"chessboard", "How many squares are on a chessboard?", "A chessboard has 64 squares.",
		"There are 64 squares on a chessboard.", "A chessboard has 90 squares."},
	{"spider", "How many legs does a spider have?", "A spider has eight legs.",
		"Spiders walk on 8 legs.", "A spider has three legs."},
	{"alphabet", "How many letters are in the modern English alphabet?", "The modern English alphabet has 26 letters.",
		"There are 26 letters in the modern English alphabet.", "The modern English alphabet has 40 letters."},
	{"boil", "At what temperature does water boil at sea level?", "At sea level, water boils at 100 degrees Celsius.",
		"The boiling point of water at sea level is 100 °C.", "At sea level, water boils at 30 degrees Celsius."},
	{"leap", "How many days does February have in a leap year?", "In a leap year, February has 29 days.",
		"February is 29 days long in leap years.", "In a leap year, February has 17 days."},
	{"sodium", "What is the chemical symbol of sodium?", "The chemical symbol of sodium is Na.",
		"Sodium is written Na in chemistry.", "The chemical symbol of sodium is Qz."},
	{"piano", "How many keys does a standard piano have?", "A standard piano has 88 keys.",
		"There are 88 keys on a standard piano.", "A standard piano has 12 keys."},
}

// ChooseCanary picks by the seed, leaving out those the texts may speak of.
func ChooseCanary(seed string, texts ...string) Canary {
	all := strings.ToLower(strings.Join(texts, "\n"))
	first := position(seed, len(canaries))
	for i := range canaries {
		if c := canaries[(first+i)%len(canaries)]; !strings.Contains(all, c.Key) {
			return c
		}
	}
	return canaries[first]
}

// position is a number below n made from a seed of hexadecimal digits.
func position(seed string, n int) int {
	h, err := strconv.ParseUint(seed[:min(8, len(seed))], 16, 64)
	if err != nil {
		return 0 // a seed that is no hash: any place will do
	}
	return int(h % uint64(n))
}
