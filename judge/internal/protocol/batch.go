// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// Item is one item of a request. Real items have an index in the caller's list, control items an expected
// verdict.
type Item struct {
	ID    string // unique in the batch
	Index int    // of a real item, or True or False
}

// The indices of control items.
const (
	True  = -1
	False = -2
)

// Canary reports whether the item is a control item.
func (i Item) Canary() bool { return i.Index < 0 }

// fault returns the error of a control item with a wrong verdict.
func (i Item) fault(denied, granted bool) error {
	switch {
	case i.Index == True && denied:
		return fmt.Errorf("%w: the judge denied a plain truth", errCanary)
	case i.Index == False && granted:
		return fmt.Errorf("%w: the judge granted a plain falsehood", errCanary)
	}
	return nil
}

// Named returns the indices of the items whose ids are in a list, in order and each once, and the number of
// unknown ids. The error is [ErrNoVerdict] if there is no list, or only unknown ids; otherwise it reports a
// wrong verdict on a control item.
func (i Item) Named(list json.RawMessage, among []Item) (found []int, unknown int, err error) {
	for _, id := range strings.FieldsFunc(word(list), func(r rune) bool { return r != '-' && r != '/' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		at := slices.IndexFunc(among, func(it Item) bool { return it.ID == id })
		switch {
		case at < 0 && !slices.Contains(noItem, id):
			unknown++
		case at >= 0 && !slices.Contains(found, among[at].Index):
			found = append(found, among[at].Index)
		}
	}
	slices.Sort(found)
	switch {
	case list == nil || len(found) == 0 && unknown > 0:
		err = ErrNoVerdict
	case i.Canary():
		err = i.fault(!slices.Equal(found, []int{True}), len(found) > 0)
	case len(found) > 0 && found[0] < 0:
		err = errCrossed
	}
	return found, unknown, err
}

// noItem lists the words in a list of ids that name no item.
var noItem = []string{"none", "nothing", "null", "n/a", "-", "and"}

// Batch holds the items of one call in the order they are shown.
//
// An id is a letter and a number, with a code made from the data: a judged text cannot contain the hash of
// itself, so a verdict copied from the data is invalid. The code is a part of every id, or, in a brief batch,
// occurs once in the reply.
type Batch struct {
	Items []Item
	Code  string
	brief bool
}

// NewBatch numbers n real items and inserts canaries at places derived from the seed.
func NewBatch(letter, seed string, n int, canaries ...int) Batch {
	b := numberItems(letter, seed, n, canaries)
	for i := range b.Items {
		b.Items[i].ID += "-" + b.Code
	}
	return b
}

// Brief returns a batch of several lists under one code, each list with its letter.
func Brief(seed string, lists ...List) Batch {
	all := Batch{brief: true}
	for _, l := range lists {
		b := numberItems(l.Letter, seed, l.N, l.Canaries)
		all.Items, all.Code = append(all.Items, b.Items...), strconv.Itoa(100_000+position(b.Code, 900_000))
	}
	return all
}

// List is a part of a brief batch: N real items, and canaries.
type List struct {
	Letter   string
	N        int
	Canaries []int
}

func numberItems(letter, seed string, n int, canaries []int) Batch {
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

// Of returns the items of one list, in order.
func (b Batch) Of(letter string) []Item {
	return slices.DeleteFunc(slices.Clone(b.Items), func(it Item) bool { return !strings.HasPrefix(it.ID, letter) })
}

// Pick returns the text at a real index, or the text of a canary.
func (i Item) Pick(real []string, whenTrue, whenFalse string) string {
	switch i.Index {
	case True:
		return whenTrue
	case False:
		return whenFalse
	}
	return real[i.Index]
}

// Listed writes one item per line, so that none can pass for two.
func Listed(items []Item, text func(Item) string) string {
	lines := make([]string, len(items))
	for i, it := range items {
		lines[i] = it.ID + ": " + strings.Join(strings.Fields(Plain(text(it))), " ")
	}
	return strings.Join(lines, "\n")
}

// Line is one verdict of a reply: the id, and the parts that the prompt asks for, by key.
type Line map[string]json.RawMessage

// replyLines is a reply: verdicts, and the number of the lists if the batch is brief.
type replyLines struct {
	Number  json.RawMessage
	Results []Line
}

// UnmarshalJSON reads the verdicts in a list, alone, or in an object under their ids, whose values may be
// plain verdicts; other objects around them are searched.
func (l *replyLines) UnmarshalJSON(data []byte) error {
	l.read("", data, 0)
	return nil
}

// maxNested is the depth to which verdicts are searched.
const maxNested = 4

var anID = regexp.MustCompile(`(?i)^[a-z][0-9]+(-[0-9a-f]+)?$`)

func (l *replyLines) read(id string, raw json.RawMessage, depth int) {
	var object Line
	var list []json.RawMessage
	isObject := json.Unmarshal(raw, &object) == nil && object != nil
	switch {
	case depth > maxNested:
	case object["id"] != nil, anID.MatchString(id):
		if !isObject {
			object = Line{"score": raw, "by": raw, "gold": raw, "statements": raw}
		}
		if object["id"] == nil {
			object["id"] = json.RawMessage(strconv.Quote(id))
		}
		l.Results = append(l.Results, object.scored())
	case isObject:
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if key == "number" {
				l.Number = object[key]
			}
			l.read(key, object[key], depth+1)
		}
	case json.Unmarshal(raw, &list) == nil:
		for _, one := range list {
			l.read("", one, depth+1)
		}
	}
}

// Check is called by replies.Decode.
func (l *replyLines) Check() error {
	if len(l.Results) == 0 {
		return errors.New(`it has no verdict under an id: the key "results" is missing, or empty`)
	}
	return nil
}

// word returns a part of a verdict in lower case.
func word(raw json.RawMessage) string { return strings.ToLower(Word(raw)) }

// Value reads a 0 or a 1 in the spellings of models. Anything else is unusable: a guess would be a score.
func (l Line) Value() (n int, ok bool) {
	n, ok = scoreValues[strings.Trim(word(l["score"]), "*.")]
	return n, ok
}

var scoreValues = map[string]int{"1": 1, "1.0": 1, "true": 1, "yes": 1, "correct": 1, "0": 0, "0.0": 0, "false": 0, "no": 0, "incorrect": 0}

// scored finds the score of a line under other keys, if these agree.
func (l Line) scored() Line {
	if l["score"] != nil {
		return l
	}
	for _, key := range []string{"verdict", "result", "value", "answer", "label", "grade", "correct", "supported", "stated", "match"} {
		n, ok := Line{"score": l[key]}.Value()
		if before, has := l.Value(); ok && has && n != before {
			delete(l, "score")
			break
		} else if ok {
			l["score"] = l[key]
		}
	}
	return l
}

func (l Line) same(o Line) bool {
	return !slices.ContainsFunc([]string{"score", "statements", "gold", "by"}, func(part string) bool { return Word(l[part]) != Word(o[part]) })
}

// uniqueLines returns the line of each requested item. Lines under other ids and repetitions are counted;
// contradictory lines of one id are no verdict.
func uniqueLines(asked []Item, found []Line, p *judge.Protocol) map[string]Line {
	out, torn := make(map[string]Line, len(asked)), make(map[string]bool)
	for _, l := range found {
		id := word(l["id"])
		first, seen := out[id]
		switch {
		case !slices.ContainsFunc(asked, func(it Item) bool { return it.ID == id }):
			p.Extra++
		case !seen:
			out[id] = l
		default:
			p.Duplicate++
			torn[id] = torn[id] || !first.same(l)
		}
	}
	maps.DeleteFunc(out, func(id string, _ Line) bool { return torn[id] })
	return out
}

// ErrNoVerdict reports a line without a verdict on its item, which is requested once more.
var ErrNoVerdict = errors.New("no usable verdict")

// errCanary marks a batch with a wrong verdict on a canary, errCrossed one in which a statement was matched
// with a canary.
var (
	errCanary  = errors.New("canary failed")
	errCrossed = fmt.Errorf("%w: the judge matched a statement with a control item", errCanary)
)

// partSchemas are the schemas of the possible parts of a line, besides its id.
var partSchemas = map[string]string{
	"reason": `{"type":"string"}`, "score": `{"type":"integer","enum":[0,1]}`, "more": `{"type":"boolean"}`,
	"gold": `{"type":"array","items":{"type":"string"}}`, "by": `{"type":"array","items":{"type":"string"}}`, "statements": `{"type":"array","items":{"type":"string"}}`,
}

// schema returns the schema of a reply whose lines have these parts, in their order.
func (b Batch) schema(of []string) json.RawMessage {
	line, required, number := `"id":{"type":"string"}`, `"id"`, [2]string{}
	for _, part := range of {
		line += fmt.Sprintf(",%q:%s", part, partSchemas[part])
		required += fmt.Sprintf(",%q", part)
	}
	if b.brief {
		number = [2]string{`"number":{"type":"string"},`, `"number",`}
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"object","additionalProperties":false,"properties":{%s"results":{"type":"array","items":`+
		`{"type":"object","additionalProperties":false,"properties":{%s},"required":[%s]}}},"required":[%s"results"]}`, number[0], line, required, number[1]))
}

// Run asks for lines with some parts until accept takes a verdict on every item: once for all, and once more
// for the missing ones. Dropping an item would shrink the denominator and raise the score. Every call
// contains the canaries; a reply without them proves nothing, and the whole batch is repeated. The errors of
// accept are [ErrNoVerdict] and the ones of [Item.Named].
func (e Asker) Run(ctx context.Context, b Batch, of []string, t *Trace, ask func([]Item) llm.Request, accept func(Item, Line) error) error {
	open := b.Items
	var crossed error
	for again := range 2 {
		request := ask(open)
		request.Schema, request.SchemaName = b.schema(of), request.Stage
		if again > 0 { // a different request: a cache would repeat the reply
			request.Messages = slices.Clone(request.Messages)
			request.Messages[len(request.Messages)-1].Text += repeatNote
		}
		found, reply, err := replies.Decode[replyLines](ctx, e.model, request)
		t.Charge(reply.Usage, err)
		if err != nil {
			return err
		}
		if b.brief && word(found.Number) != b.Code {
			found.Results = nil // a reply without the number was written without reading the prompt
		}
		verdicts := uniqueLines(open, found.Results, &t.Protocol)
		left := make(map[string]bool) // by ID
		all := false
		for _, it := range open {
			err := ErrNoVerdict
			if l, ok := verdicts[it.ID]; ok {
				err = accept(it, l)
			}
			if it.Canary() && err != ErrNoVerdict {
				t.Protocol.Canaries++
			}
			switch {
			case err == ErrNoVerdict:
				all = all || it.Canary()
				left[it.ID] = true
			case err == errCrossed:
				crossed = err
			case err != nil:
				t.Protocol.FailedCanaries++
				return err
			}
		}
		if len(left) == 0 {
			if crossed != nil {
				t.Protocol.FailedCanaries++
			}
			return crossed
		}
		open = slices.DeleteFunc(slices.Clone(b.Items), func(it Item) bool {
			return !all && !it.Canary() && !left[it.ID]
		})
		t.Protocol.Missing += len(left)
	}
	return &llm.Error{Kind: llm.ErrInvalidOutput, Err: errors.New("no usable verdict on every item")}
}

const repeatNote = "\n\nA reply before this one lacked a usable verdict on some of the items. Give one on each, and copy ids and numbers whole, as they stand above."

// Canary is a control item: a well-known fact in two wordings, and a falsehood about it. One true and one
// false item are mixed with the real ones. A judge that errs on them has been manipulated, or reads
// carelessly; either way its verdicts on the other items are worthless.
type Canary struct {
	// Key is the word by which a text would mention the same subject; such a text gets another canary.
	Key string
	// Question has the answer Fact, which Restated repeats and Falsehood contradicts.
	Question, Fact, Restated, Falsehood string
}

// Canaries returns all control items.
func Canaries() []Canary {
	all := make([]Canary, 0, strings.Count(canaryTable, "\n"))
	for line := range strings.Lines(canaryTable) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		all = append(all, Canary{parts[0], parts[1], parts[2], parts[3], parts[4]})
	}
	return all
}

//go:embed prompts/canaries.tsv
var canaryTable string

// ChooseCanary picks one by the seed whose subject the texts do not mention.
func ChooseCanary(seed string, texts ...string) Canary {
	all := strings.ToLower(strings.Join(texts, "\n"))
	items := Canaries()
	first := position(seed, len(items))
	for i := range items {
		if c := items[(first+i)%len(items)]; !strings.Contains(all, c.Key) {
			return c
		}
	}
	return items[first]
}

// position returns a number below n made from a seed of hexadecimal digits.
func position(seed string, n int) int {
	h, err := strconv.ParseUint(seed[:min(8, len(seed))], 16, 64)
	if err != nil {
		return 0 // a seed that is no hash: any place will do
	}
	return int(h % uint64(n))
}
