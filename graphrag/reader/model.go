// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// ModelOptions are the options of [ByModel].
type ModelOptions struct {
	// Model answers. It is required.
	Model llm.Model
	// Mode is Open if empty.
	Mode Mode
	// Instruction is said in place of ours, e.g. the text of [Minimal]. The material follows between marks,
	// then the question. Citations are made of what the model is asked for by it, if anything.
	Instruction string
}

// Minimal returns an instruction that states only the mode, after the rules that Youtu-GraphRAG compares
// its modes by (arXiv 2508.19855, appendix A), in our words. Results depend on the instruction: the paper's
// figures are comparable to figures with this instruction.
func Minimal(m Mode) string {
	req, err := templates.Request(context.Background(), "read", "minimal", map[string]any{"Reject": m.Rejects()})
	if err != nil {
		panic(err) // it is part of the program
	}
	return req.Messages[0].Text
}

// ByModel returns a reader that asks a language model. Passages, facts and reports are numbered, and what
// the model cites becomes citations; in open mode it marks its own knowledge, and that becomes one as
// well. The marks are taken out of the answer. A mark at a sentence whose numbers, names or quotation its
// pieces lack leads nowhere and counts as Unread. The instruction depends on the form of the question.
//
// Without evidence, Open asks the model for its own knowledge, and Reject refuses without a call. Errors of the
// model are wrapped; a reply of prose that was cut is an answer that ends with [Cut], and counts as Unread.
func ByModel(o ModelOptions) (Reader, error) {
	checks := opt.Checks{Of: "reader"}
	o.Mode.check(&checks)
	checks.Want(o.Model != nil, "Model", "missing", "a model")
	if err := checks.Err(); err != nil {
		return nil, err
	}
	o.Mode = cmp.Or(o.Mode, Open)
	return &byModel{o}, nil
}

type byModel struct{ o ModelOptions }

// Name implements [Reader].
func (r *byModel) Name() string {
	name := "model/" + string(r.o.Mode) + "/" + r.o.Model.Name()
	switch r.o.Instruction {
	case "":
		return name
	case Minimal(r.o.Mode):
		return name + "/minimal"
	}
	return name + "/own instruction"
}

// Read implements [Reader].
func (r *byModel) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	return r.answer(ctx, q, evidence, derived, nil)
}

// Stream implements [Streamer]. A mark of a citation is held back until it is
// whole, and what may become a refusal until it is none.
func (r *byModel) Stream(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) iter.Seq2[graphrag.Answer, error] {
	return func(yield func(graphrag.Answer, error) bool) {
		var raw, shown string
		seen := 0
		enough := errors.New("the reader of the stream has enough")
		a, err := r.answer(ctx, q, evidence, derived, func(piece string) error {
			raw += piece
			settled := settledOf(raw)
			if 64*(len(settled)-seen) < seen {
				return nil // a long answer is read again by a part of its length at a time
			}
			seen = len(settled)
			if shown == "" && mayWrap(settled, q.Text) {
				return nil
			}
			text, citations, _, _ := cite(replies.Unwrap(settled, q.Text), materialOf(evidence, derived, r.o.Mode))
			if shown == "" && r.o.Mode != Open && len(text) < maxRefusal && (text == "" || len(citations) == 0 && !strings.ContainsAny(settled, "\n.!?。") || IsRefusal(q.Text, text)) {
				return nil // it may become a refusal
			}
			if len(text) > len(shown) && strings.HasPrefix(text, shown) {
				shown = text
				if !yield(graphrag.Answer{Text: text}, nil) {
					return enough
				}
			}
			return nil
		})
		if !errors.Is(err, enough) {
			yield(a, err)
		}
	}
}

// mayWrap reports whether the beginning of a reply can be part of what [replies.Unwrap] takes off: an opening mark, a label,
// an announcement or the question.
func mayWrap(begun, question string) bool {
	text, asked := strings.TrimLeft(replies.Unwrap(begun, question), "*_# "), oneLine(question)
	if text == "" || strings.ContainsRune("\"'“”„‘«»「『{[<`~\\$", []rune(strings.TrimSpace(begun))[0]) {
		return true
	}
	said := oneLine(text)
	return len(text) < maxAnnounced && (!strings.ContainsAny(text, "\n.!?。") || strings.HasSuffix(said, ":") || strings.HasSuffix(said, "：") || strings.HasPrefix(asked, said) || asked != "" && strings.HasSuffix(said, asked))
}

// maxAnnounced is the length of the longest announcement of an answer, in bytes.
const maxAnnounced = 120

// settledOf returns the part of an unfinished reply that can be shown: whole words, without the beginning of a mark or of a
// list of marks.
func settledOf(raw string) string {
	raw = raw[:strings.LastIndexAny(raw, " \n")+1]
	for _, open := range []string{"[", "【", "［", "(", "<"} {
		if at := strings.LastIndex(raw, open); at >= 0 && len(raw)-at < maxMarkBytes && !strings.ContainsAny(raw[at:], "]】］)>") {
			raw = raw[:at]
		}
	}
	if at := listBegins.FindStringIndex(raw[max(0, len(raw)-maxTail):]); at != nil {
		raw = raw[:max(0, len(raw)-maxTail)+at[0]]
	}
	return raw
}

// answer asks the model; piece is called with parts of the reply, if it is not nil.
func (r *byModel) answer(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived, piece func(string) error) (graphrag.Answer, error) {
	if err := ctx.Err(); err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: answer %q: %w", q.Text, err)
	}
	if declined, _ := ctx.Value(declinedKey{}).(bool); r.o.Mode.Rejects() && (declined || len(evidence)+len(derived) == 0) {
		return refuse(evidence, derived), nil
	}
	req, err := r.request(ctx, q, evidence, derived)
	if err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: prompt for %q: %w", q.Text, err)
	}
	if r.o.Mode == Cited {
		piece = nil // what no citation holds for is not shown
	}
	reply, err := llm.Stream(ctx, r.o.Model, req, piece)
	cut := partOf(&reply, err)
	if err != nil && !cut {
		return graphrag.Answer{}, fmt.Errorf("reader: answer %q: %w", q.Text, err)
	}
	answer := graphrag.Answer{Found: graphrag.Found{Evidence: evidence, Derived: derived, Usage: reply.Usage}}
	said, cited, clauses, none := cite(replies.Unwrap(reply.Text, q.Text), materialOf(evidence, derived, r.o.Mode))
	answer.Text, answer.Citations = said, supported(q.Text, graphrag.Answer{Text: said, Found: answer.Found}, cited, clauses)
	answer.Usage.Unread += len(cited) - len(answer.Citations)
	if answer.Refused = none && answer.Text == "" || r.refuses(q.Text, answer); answer.Refused {
		answer.Text, answer.Citations = cmp.Or(answer.Text, Refusal), nil
	} else if r.o.Mode == Cited && answer.Uncited() {
		answer.Text, answer.Refused = Refusal, true
	} else if cut {
		answer.Text, answer.Usage.Unread = answer.Text+Cut, answer.Usage.Unread+1
	}
	return answer, nil
}

// Declined returns a context under which a reader that may refuse does so without a call: who searched found that the
// material has no answer ([graphrag.Found].Declined).
func Declined(ctx context.Context) context.Context {
	return context.WithValue(ctx, declinedKey{}, true)
}

type declinedKey struct{}

// Cut ends the text of an answer whose reply was cut at the limit of tokens.
const Cut = " […]"

// partOf makes a reply of the text of one that was cut, unless it is an object, and reports whether it did.
func partOf(reply *llm.Reply, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.ErrTruncated {
		return false
	}
	text := strings.TrimSpace(replies.Unfence(strings.TrimSpace(e.Partial)))
	if text == "" || text[0] == '{' || strings.HasPrefix(text, "[{") {
		return false
	}
	reply.Text = text
	if reply.Usage.Calls == 0 {
		reply.Usage = e.Usage
	}
	return true
}

// refuses reports whether a reply declines to answer. In open mode one that says so of
// the evidence and continues from memory does not.
func (r *byModel) refuses(asked string, a graphrag.Answer) bool {
	goesOn := r.o.Mode == Open && (len(text.Sentences(a.Text)) > 1 ||
		slices.ContainsFunc(a.Citations, func(c graphrag.Citation) bool { return c.Of == graphrag.OfMemory }))
	return len(a.Citations) == 0 && IsRefusal(asked, a.Text) && !goesOn
}

//go:embed prompts/*.txt
var promptFiles embed.FS

var templates = prompts.Must("reader", promptFiles)

// request writes the prompt for a question: the rules as the system message,
// the material and the question as the user's. Equal input gives equal bytes.
func (r *byModel) request(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (llm.Request, error) {
	question := prompts.Printable(q.Text)
	data := derivedData(derived) // the question has no part in the marks: equal evidence begins equal prompts, which providers keep
	for i, h := range evidence {
		data = append(data, prompts.Data{Label: fmt.Sprintf("passage %d", i+1), Text: passage(h.Chunk)})
	}
	facts, reports := numbered(derived)
	req, err := templates.Request(ctx, "read", "read", map[string]any{
		"Question": strings.TrimSpace(question),
		"Refusal":  "[none]",
		"Passages": len(evidence) > 0,
		"Facts":    len(facts) > 0,
		"Reports":  len(reports) > 0,
		"Form":     string(q.Form),
		"Reject":   r.o.Mode.Rejects(),
		"Said":     r.o.Instruction,
	}, data...)
	req.Question = q.ID
	return req, err
}

// passage returns the text of a chunk for the prompt: the title of its page, if any, and the text.
func passage(c graphrag.Chunk) string {
	body := prompts.Printable(strings.TrimSpace(c.Shown()))
	title := strings.Join(strings.Fields(prompts.Printable(c.Title)), " ")
	if title == "" {
		return body
	}
	return "Page: " + title + "\n" + body
}

// long reports whether a derived text of this kind is shown by itself, as a passage
// is, and grown whether it refers to several sources and is cited as a report.
func long(kind string) bool  { return kind == "report" || kind == "summary" || kind == "answer" }
func grown(kind string) bool { return long(kind) || kind == "point" }

// numbered are the places of derived texts in the order of their numbers: facts are
// cited as [F1], [F2], … and reports as [R1], ….
func numbered(derived []graphrag.Derived) (facts, reports []int) {
	for i, d := range derived {
		if grown(d.Kind) {
			reports = append(reports, i)
		} else {
			facts = append(facts, i)
		}
	}
	return facts, reports
}

// derivedData shows derived texts in their order: long ones each between marks of
// its own, neighbours among the short ones as the lines of one list.
func derivedData(derived []graphrag.Derived) (data []prompts.Data) {
	next := map[string]int{"F": 1, "R": 1}
	for i := 0; i < len(derived); {
		prefix := prefixOf(derived[i].Kind)
		first := next[prefix]
		if long(derived[i].Kind) {
			data = append(data, prompts.Data{Label: fmt.Sprintf("%s %s%d", cmp.Or(noLetters.ReplaceAllString(derived[i].Kind, ""), "note"), prefix, first), Text: prompts.Printable(derived[i].Text)})
			next[prefix]++
			i++
			continue
		}
		var rows []string
		for ; i < len(derived) && prefixOf(derived[i].Kind) == prefix && !long(derived[i].Kind); i++ {
			rows = append(rows, prompts.Printable(derived[i].Text))
		}
		label := map[string]string{"F": "facts", "R": "points"}[prefix]
		data = append(data, prompts.Data{Label: label, Rows: rows, Prefix: prefix, First: first})
		next[prefix] += len(rows)
	}
	return data
}

func prefixOf(kind string) string {
	if grown(kind) {
		return "R"
	}
	return "F"
}

// noLetters are cut from the kind of a derived text in its label, so that it cannot close a mark.
var noLetters = regexp.MustCompile(`\PL+`)

// Streamer is a [Reader] that also hands out an answer while it is written. Each Answer that is yielded has
// a longer beginning of the text, the last is what Read would return. An error ends the stream.
type Streamer interface {
	Stream(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) iter.Seq2[graphrag.Answer, error]
}

// Stream reads piece by piece if the reader is a [Streamer], else all at once.
func Stream(ctx context.Context, r Reader, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) iter.Seq2[graphrag.Answer, error] {
	if s, ok := r.(Streamer); ok {
		return s.Stream(ctx, q, evidence, derived)
	}
	return func(yield func(graphrag.Answer, error) bool) {
		yield(r.Read(ctx, q, evidence, derived))
	}
}
