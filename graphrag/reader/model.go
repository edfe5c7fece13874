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
	// Model answers questions. It is required.
	Model llm.Model
	// Mode is Open if empty.
	Mode Mode
	// Instruction replaces the reader's own instruction, e.g. by the text of [Minimal]. The evidence follows
	// between marks, then the question. Only citations that the instruction asks for can be found in the reply.
	Instruction string
}

// Minimal returns an instruction that states only the mode, with the rules by which Youtu-GraphRAG compares its
// modes (arXiv 2508.19855, appendix A), in this project's words. Results depend on the instruction: compare
// figures of that paper with figures under this instruction.
func Minimal(m Mode) string {
	req, err := templates.Request(context.Background(), "read", "minimal", map[string]any{"Reject": m.Rejects()})
	if err != nil {
		panic(err) // the template is embedded in the program
	}
	return req.Messages[0].Text
}

// ByModel returns a reader that asks a language model. Passages, facts and reports are numbered, and the marks
// by which the model cites them become citations; in open mode it also marks its own knowledge. The marks are
// removed from the answer. A mark is not used, and counts as Unread, if the pieces that it names lack the
// numbers, names or quotations of its sentence. The instruction depends on the form of the question.
//
// Without evidence, Open asks the model for its own knowledge, and Reject refuses without a call. Errors of the
// model are wrapped. If a reply in prose was cut off, the answer ends with [Cut], and it counts as Unread.
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

func (r *byModel) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	return r.answer(ctx, q, evidence, derived, nil)
}

// Stream implements [Streamer]. It holds back the mark of a citation until it is complete, and the beginning of
// an answer as long as it may become a refusal.
func (r *byModel) Stream(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) iter.Seq2[graphrag.Answer, error] {
	return func(yield func(graphrag.Answer, error) bool) {
		var raw, shown string
		seen := 0
		enough := errors.New("the caller stopped reading the stream")
		a, err := r.answer(ctx, q, evidence, derived, func(piece string) error {
			raw += piece
			settled := settledOf(raw)
			if 64*(len(settled)-seen) < seen {
				return nil // a long answer is parsed again only after it has grown by a part of its length
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

// mayWrap reports whether the beginning of a reply may be a part that [replies.Unwrap] removes: an opening
// mark, a label, an announcement or the question.
func mayWrap(begun, question string) bool {
	text, asked := strings.TrimLeft(replies.Unwrap(begun, question), "*_# "), oneLine(question)
	if text == "" || strings.ContainsRune("\"'“”„‘«»「『{[<`~\\$", []rune(strings.TrimSpace(begun))[0]) {
		return true
	}
	said := oneLine(text)
	return len(text) < maxAnnounced && (!strings.ContainsAny(text, "\n.!?。") || strings.HasSuffix(said, ":") || strings.HasSuffix(said, "：") || strings.HasPrefix(asked, said) || asked != "" && strings.HasSuffix(said, asked))
}

// maxAnnounced is the largest length of an announcement of an answer, in bytes.
const maxAnnounced = 120

// settledOf returns the part of an unfinished reply that can be shown: whole words, without an unfinished
// citation mark or list of marks at the end.
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

// answer asks the model. If piece is not nil, it is called with each part of the reply.
func (r *byModel) answer(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived, piece func(string) error) (graphrag.Answer, error) {
	if err := ctx.Err(); err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: answer %q: %w", q.Text, err)
	}
	if declined, _ := ctx.Value(declinedKey{}).(bool); r.o.Mode.Rejects() && (declined || len(evidence)+len(derived) == 0) {
		return refuse(evidence, derived), nil
	}
	req, err := r.request(ctx, q, evidence, derived)
	if err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: make the prompt for %q: %w", q.Text, err)
	}
	if r.o.Mode == Cited {
		piece = nil // sentences without a valid citation must not be shown
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

// Declined returns a context in which a reader whose mode can refuse does so without asking a model. It is for
// callers whose search has found that the texts have no answer ([graphrag.Found].Declined).
func Declined(ctx context.Context) context.Context {
	return context.WithValue(ctx, declinedKey{}, true)
}

type declinedKey struct{}

// Cut is the end of an answer whose reply was cut at the limit of tokens.
const Cut = " […]"

// partOf sets the reply to the text that was received before it was cut, unless the text is a JSON object, and
// reports whether it did.
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

// refuses reports whether an answer is a refusal. In open mode an answer that first says that the evidence does
// not help, and then continues from the model's own knowledge, is not.
func (r *byModel) refuses(asked string, a graphrag.Answer) bool {
	goesOn := r.o.Mode == Open && (len(text.Sentences(a.Text)) > 1 ||
		slices.ContainsFunc(a.Citations, func(c graphrag.Citation) bool { return c.Of == graphrag.OfMemory }))
	return len(a.Citations) == 0 && IsRefusal(asked, a.Text) && !goesOn
}

//go:embed prompts/*.txt
var promptFiles embed.FS

var templates = prompts.Must("reader", promptFiles)

// request makes the prompt for a question: the rules are the system message, the evidence and the question the
// user's message. Equal input gives equal bytes.
func (r *byModel) request(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (llm.Request, error) {
	question := prompts.Printable(q.Text)
	data := derivedData(derived) // the marks do not depend on the question, so that equal evidence begins equal prompts, which providers cache
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

// passage returns the text of a chunk for the prompt: the title of its page, if any, then the text.
func passage(c graphrag.Chunk) string {
	body := prompts.Printable(strings.TrimSpace(c.Shown()))
	title := strings.Join(strings.Fields(prompts.Printable(c.Title)), " ")
	if title == "" {
		return body
	}
	return "Page: " + title + "\n" + body
}

// long reports whether a derived text of a kind stands alone in the prompt, as a passage does; grown reports
// whether it refers to several sources and is cited as a report.
func long(kind string) bool  { return kind == "report" || kind == "summary" || kind == "answer" }
func grown(kind string) bool { return long(kind) || kind == "point" }

// numbered returns the indexes of derived texts in the order of their numbers: facts are cited as [F1], [F2],
// …, reports as [R1], ….
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

// derivedData returns derived texts for the prompt, in their order: each long one between marks of its own,
// consecutive short ones as lines of one list.
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

// noLetters matches characters that are removed from the kind in the label of a derived text: they could close
// a mark.
var noLetters = regexp.MustCompile(`\PL+`)

// Streamer is a [Reader] that also yields an answer while it is written. Each Answer has a longer beginning of
// the text, the last one is the Answer that Read returns. An error ends the stream.
type Streamer interface {
	Stream(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) iter.Seq2[graphrag.Answer, error]
}

// Stream yields an answer part by part if the reader is a [Streamer], otherwise the whole answer at once.
func Stream(ctx context.Context, r Reader, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) iter.Seq2[graphrag.Answer, error] {
	if s, ok := r.(Streamer); ok {
		return s.Stream(ctx, q, evidence, derived)
	}
	return func(yield func(graphrag.Answer, error) bool) {
		yield(r.Read(ctx, q, evidence, derived))
	}
}
