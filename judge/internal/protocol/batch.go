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
	ID    string // identifier, unique in the batch
	Index int    // index of a real item in the caller's list; True or False for a control item
}

// The indices of control items: a true statement and a false one.
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
		return fmt.Errorf("%w: the judge denied a true control item", errCanary)
	case i.Index == False && granted:
		return fmt.Errorf("%w: the judge confirmed a false control item", errCanary)
	}
	return nil
}

// Named reads a model's list of the ids that match item i. It returns the indices of the items with these ids,
// sorted and each once, and the number of unknown ids. The error is [ErrNoVerdict] if there is no list, or only
// unknown ids; otherwise it reports a control item with a wrong verdict.
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

// noItem lists the words that models write into a list of ids and that are no ids.
var noItem = []string{"none", "nothing", "null", "n/a", "-", "and"}

// Batch holds the items of one call in the order in which they are shown.
//
// An id is a letter and a number, with a code made from the data: a judged text cannot contain its own hash, so
// a verdict that is copied from the data is invalid. The code is part of every id; in a brief batch the reply
// states it once instead.
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

// Brief returns a batch of several lists with one code. Each list has its own letter.
func Brief(seed string, lists ...List) Batch {
	all := Batch{brief: true}
	for _, l := range lists {
		b := numberItems(l.Letter, seed, l.N, l.Canaries)
		all.Items, all.Code = append(all.Items, b.Items...), strconv.Itoa(100_000+position(b.Code, 900_000))
	}
	return all
}

// List is a part of a brief batch: N real items, and control items.
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

// Of returns the items of the list with a letter, in order.
func (b Batch) Of(letter string) []Item {
	return slices.DeleteFunc(slices.Clone(b.Items), func(it Item) bool { return !strings.HasPrefix(it.ID, letter) })
}

// Pick returns the text of an item: the one at its index in real, or for a control item whenTrue or whenFalse.
func (i Item) Pick(real []string, whenTrue, whenFalse string) string {
	switch i.Index {
	case True:
		return whenTrue
	case False:
		return whenFalse
	}
	return real[i.Index]
}

// Listed writes each item on one line, so that no item looks like two.
func Listed(items []Item, text func(Item) string) string {
	lines := make([]string, len(items))
	for i, it := range items {
		lines[i] = it.ID + ": " + strings.Join(strings.Fields(Plain(text(it))), " ")
	}
	return strings.Join(lines, "\n")
}

// Line is one verdict of a reply, by JSON key: the id, and the parts that the prompt asks for.
type Line map[string]json.RawMessage

// replyLines is a reply: the verdicts, and for a brief batch the number that is its code.
type replyLines struct {
	Number  json.RawMessage
	Results []Line
}

// UnmarshalJSON reads one verdict, a list of verdicts, or an object of verdicts by id, whose values may be
// scores alone; it also finds these inside other objects.
func (l *replyLines) UnmarshalJSON(data []byte) error {
	l.read("", data, 0)
	return nil
}

// maxNested is the depth of nested values to which verdicts are searched.
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

// Check returns an error for a reply without verdicts; replies.Decode calls it.
func (l *replyLines) Check() error {
	if len(l.Results) == 0 {
		return errors.New(`it has no verdict under an id: the key "results" is missing, or empty`)
	}
	return nil
}

// word returns a part of a verdict as text in lower case.
func word(raw json.RawMessage) string { return strings.ToLower(Word(raw)) }

// Value reads the score 0 or 1, which models also write as "yes" or "incorrect". ok is false for anything else.
func (l Line) Value() (n int, ok bool) {
	n, ok = scoreValues[strings.Trim(word(l["score"]), "*.")]
	return n, ok
}

var scoreValues = map[string]int{"1": 1, "1.0": 1, "true": 1, "yes": 1, "correct": 1, "0": 0, "0.0": 0, "false": 0, "no": 0, "incorrect": 0}

// scored sets the score of a line that lacks one from other keys, such as "verdict", if these agree.
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

// uniqueLines returns the line of each requested item, by id. It counts lines with other ids and repeated
// lines; an id whose lines contradict each other gets none.
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

// ErrNoVerdict reports an item without a usable verdict, which is requested once more.
var ErrNoVerdict = errors.New("no usable verdict")

// errCanary means that the model's verdict on a control item is wrong, errCrossed that it matched a statement
// with a control item.
var (
	errCanary  = errors.New("canary failed")
	errCrossed = fmt.Errorf("%w: the judge matched a statement with a control item", errCanary)
)

// partSchemas are the JSON schemas of the parts that a line may have besides its id.
var partSchemas = map[string]string{
	"reason": `{"type":"string"}`, "score": `{"type":"integer","enum":[0,1]}`, "more": `{"type":"boolean"}`,
	"gold": `{"type":"array","items":{"type":"string"}}`, "by": `{"type":"array","items":{"type":"string"}}`, "statements": `{"type":"array","items":{"type":"string"}}`,
}

// schema returns the JSON schema of a reply whose lines have the given parts, in this order.
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

// Run asks the model for a line with the parts of on every item, and passes each to accept. Items without a
// usable verdict are requested once more: leaving one out would raise the score. Every call contains the
// control items; if the reply has no verdict on them, the whole batch is requested once more. accept may return
// [ErrNoVerdict] and the errors of [Item.Named].
func (e Asker) Run(ctx context.Context, b Batch, of []string, t *Trace, ask func([]Item) llm.Request, accept func(Item, Line) error) error {
	open := b.Items
	var crossed error
	for again := range 2 {
		request := ask(open)
		request.Schema, request.SchemaName = b.schema(of), request.Stage
		if again > 0 { // the text changes, so that a cache does not return the same reply
			request.Messages = slices.Clone(request.Messages)
			request.Messages[len(request.Messages)-1].Text += repeatNote
		}
		found, reply, err := replies.Decode[replyLines](ctx, e.model, request)
		t.Charge(reply.Usage, err)
		if err != nil {
			return err
		}
		if b.brief && word(found.Number) != b.Code {
			found.Results = nil // a model that read the prompt states the number
		}
		verdicts := uniqueLines(open, found.Results, &t.Protocol)
		left := make(map[string]bool) // IDs of the items without a usable verdict
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
	return &llm.Error{Kind: llm.ErrInvalidOutput, Err: errors.New("some items have no usable verdict after two requests")}
}

const repeatNote = "\n\nA reply before this one lacked a usable verdict on some of the items. Give one on each, and copy ids and numbers whole, as they stand above."

// Canary is a control item: a well-known fact in two wordings, and a falsehood about it. One true and one false
// item are mixed with the real ones. A judge with a wrong verdict on them has been manipulated or is careless;
// its other verdicts are worthless.
type Canary struct {
	// Key is a word that texts about the same subject contain; such texts get another control item.
	Key string
	// Fact answers Question; Restated says the same in other words, and Falsehood contradicts it.
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

// ChooseCanary returns a control item whose subject the texts do not mention; the seed decides among several.
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

// position returns a number below n that is computed from a seed of hexadecimal digits.
func position(seed string, n int) int {
	h, err := strconv.ParseUint(seed[:min(8, len(seed))], 16, 64)
	if err != nil {
		return 0 // a seed without hexadecimal digits gives the first position
	}
	return int(h % uint64(n))
}
