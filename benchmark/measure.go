// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// Evidence measures what a system found, without any model. All figures are fractions in 0..1, undefined
// (nil) for questions without gold documents or systems that rank nothing.
//
// A ranked chunk counts for its document. The list of chunks is cut at k, as a top-k prompt sees it: five
// chunks of one document are one document.
type Evidence struct {
	// RecallAt2, RecallAt5 and RecallAt10 are the shares of gold units met by the first k ranked chunks.
	RecallAt2  *float64 `json:"evidence_recall_at_2,omitempty"`
	RecallAt5  *float64 `json:"evidence_recall_at_5,omitempty"`
	RecallAt10 *float64 `json:"evidence_recall_at_10,omitempty"`
	// HitAt5 is 1 if the first five chunks meet at least one unit, AllAt5 is 1 if they meet every unit.
	HitAt5 *float64 `json:"hit_at_5,omitempty"`
	AllAt5 *float64 `json:"all_at_5,omitempty"`
	// MRR is 1/rank of the first chunk of a gold document, 0 if no chunk is of one.
	MRR *float64 `json:"mrr,omitempty"`
	// NDCGAt10 is the discounted cumulative gain of the documents of the first ten chunks, divided by the
	// ideal one, if documents are graded.
	NDCGAt10 *float64 `json:"ndcg_at_10,omitempty"`
	// PromptRecall is the share of gold units met by the source text in the final prompt. ProvenanceRecall
	// counts also the documents behind the summaries and facts in the prompt.
	PromptRecall     *float64 `json:"evidence_recall,omitempty"`
	ProvenanceRecall *float64 `json:"provenance_recall,omitempty"`
	// Found is the share of the gold statements that the evidence contains: at least half of the content words
	// of the statement, weighted by idf, are in one chunk of a gold document.
	Found *float64 `json:"statement_coverage,omitempty"`
}

// Measure compares the ranked chunks and the prompt of an answer with the gold of its question. The share of
// found statements is taken from the record.
func (it Item) Measure(a record.Answer) Evidence {
	var e Evidence
	if a.Gold == it.digest() {
		e.Found = a.Found
	}
	if len(it.Gold) == 0 {
		return e
	}
	searched := a.Ranked != nil // if nothing was found, recall is 0
	if searched {
		ranked := make([]string, len(a.Ranked))
		for i, r := range a.Ranked {
			ranked[i] = r.Doc
		}
		e.RecallAt2 = ref(it.Recall(ranked[:min(2, len(ranked))]))
		e.RecallAt5 = ref(it.Recall(ranked[:min(5, len(ranked))]))
		e.RecallAt10 = ref(it.Recall(ranked[:min(10, len(ranked))]))
		e.HitAt5, e.AllAt5, e.MRR = ref(math.Ceil(*e.RecallAt5)), ref(math.Floor(*e.RecallAt5)), ref(0)
		if first := slices.IndexFunc(ranked, it.isGold); first >= 0 {
			e.MRR = ref(1 / float64(first+1))
		}
		e.NDCGAt10 = gain(it.Grades, ranked[:min(10, len(ranked))])
	}
	if searched || len(a.Evidence) > 0 || len(a.Derived) > 0 {
		source, derived := read(a)
		e.PromptRecall, e.ProvenanceRecall = ref(it.Recall(source)), ref(it.Recall(append(source, derived...)))
	}
	return e
}

// read returns the documents of the source text in a prompt, and the documents behind its derived texts.
func read(a record.Answer) (source, derived []string) {
	for _, e := range a.Evidence {
		source = append(source, e.Doc)
	}
	for _, d := range a.Derived {
		derived = append(derived, d.Docs...)
	}
	return source, derived
}

// Recall returns the share of the gold units for which docs has at least one document; 0 if there are no units.
func (it Item) Recall(docs []string) float64 {
	if len(it.Gold) == 0 {
		return 0
	}
	met := 0
	for _, u := range it.Gold {
		if slices.ContainsFunc(docs, func(d string) bool { return slices.Contains(u, d) }) {
			met++
		}
	}
	return float64(met) / float64(len(it.Gold))
}

// isGold reports whether a document is in any gold unit.
func (it Item) isGold(doc string) bool {
	return slices.ContainsFunc(it.Gold, func(u Unit) bool { return slices.Contains(u, doc) })
}

// gain returns nDCG@10 as trec_eval defines it over the first ten places, in which each document counts once:
// the gain of a document is its level, the discount of a rank log2(rank+1), and the ideal ranking contains
// all judged documents, retrieved or not. It is nil without grades.
func gain(grades map[string]int32, docs []string) *float64 {
	if grades == nil {
		return nil
	}
	var distinct []string
	var levels []int32
	for _, d := range docs {
		if !slices.Contains(distinct, d) {
			distinct, levels = append(distinct, d), append(levels, grades[d])
		}
	}
	ideal := slices.Sorted(maps.Values(grades))
	slices.Reverse(ideal)
	if best := dcg(ideal[:min(10, len(ideal))]); best > 0 {
		return ref(dcg(levels) / best)
	}
	return ref(0)
}

func dcg(levels []int32) float64 {
	sum := 0.0
	for i, level := range levels {
		sum += float64(max(level, 0)) / math.Log2(float64(i+2))
	}
	return sum
}

func ref(f float64) *float64 { return &f }

// CountRefusal counts an answer, right or wrong, or a refusal. A refusal is wrong if the evidence would have
// sufficed to answer: it has pages of all gold units, or of any unit if answers are judged by statements.
// Otherwise it is right, as it is if the question is [Item].Unanswerable. Failed and unjudged answers are
// unscored, and so is a refusal if the evidence was not recorded.
func (r Result) CountRefusal(out *stats.Refusals) {
	verdicts := r.Judgment.Verdicts()
	if r.Skipped || r.Answer.Searched || len(verdicts) == 0 {
		return
	}
	held, known := r.Item.held(r.Answer)
	if r.Answer.Error != "" || r.Answer.Refused && !known {
		out.Unscored++
		return
	}
	out.Add(r.Answer.Refused, held, verdicts[0])
}

// held reports whether the evidence of an answer contains enough of the gold to answer: pages of all units if
// answers are right or wrong, a page of any unit if answers are judged by statements, since a partial answer is
// then better than none. The evidence is the source text of the prompt or, if there is none, the pages behind
// its derived texts. known is false for questions without gold pages, and for answers of other programs without
// evidence.
func (it Item) held(a record.Answer) (held, known bool) {
	switch {
	case it.Unanswerable:
		return false, true
	case len(it.Gold) == 0 || a.Foreign && a.Ranked == nil:
		return false, false
	}
	docs, derived := read(a)
	if len(docs) == 0 {
		docs = derived
	}
	met := it.Recall(docs)
	return met == 1 || met > 0 && len(it.Statements) > 0, true
}

// wordCounts holds the document frequencies of the words of a corpus, in lower case. Content words are those other
// than function words and single letters. It is safe for concurrent use.
type wordCounts struct {
	analyzer  *text.Standard
	documents int
	words     *text.Vocabulary
	frequency []int32 // number of documents that contain each word
}

// countWords counts the words of a corpus. It returns the error of the documents, or the error of ctx.
func countWords(ctx context.Context, documents func() ([]graphrag.Document, error)) (*wordCounts, error) {
	analyzer, err := text.New(text.Options{NoStems: true})
	docs, unread := documents()
	if err = cmp.Or(err, unread); err != nil {
		return nil, fmt.Errorf("benchmark: counting the words of the corpus: %w", err)
	}
	w := &wordCounts{analyzer: analyzer, words: new(text.Vocabulary)}
	var last []int32 // 1 + index of the last document with each word
	for _, doc := range docs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("benchmark: counting the words of the corpus: %w", err)
		}
		w.documents++
		analyzer.Words(doc.Text, func(word []byte) bool {
			n, added := w.words.Add(word)
			if added {
				last, w.frequency = append(last, 0), append(w.frequency, 0)
			}
			if last[n] != int32(w.documents) {
				last[n] = int32(w.documents)
				w.frequency[n]++
			}
			return true
		})
	}
	return w, nil
}

// idf returns the inverse document frequency of a word, as in BM25.
func (w *wordCounts) idf(word []byte) float64 {
	all, with := float64(w.documents), 0.0
	if n := w.words.Find(word); n >= 0 {
		with = float64(w.frequency[n])
	}
	return math.Log(1 + (all-with+.5)/(with+.5))
}

// content adds the distinct content words of a text to a vocabulary and lists them in the order of their bytes.
// Sums over them then do not depend on the order in the text.
func (w *wordCounts) content(of *text.Vocabulary, s string) []int {
	var out []int
	w.analyzer.Words(s, func(word []byte) bool {
		if r, n := utf8.DecodeRune(word); n == len(word) && !unicode.IsDigit(r) && r < 0x2e80 {
			return true
		}
		if _, ok := w.analyzer.Term(string(word)); ok {
			n, _ := of.Add(word)
			out = append(out, n)
		}
		return true
	})
	slices.SortFunc(out, func(a, b int) int { return bytes.Compare(of.At(a), of.At(b)) })
	return slices.Compact(out)
}

// foundShare is the share of a statement's content words that a chunk needs for the statement to be found.
const foundShare = 0.5

// found returns the share of the gold statements that the evidence contains, see [Evidence].Found. Recall of
// documents alone rewards many short chunks, this figure chunks with the right content. Paraphrased statements
// are missed. It is false if the question has no gold documents, or no statement with a content word.
func (w *wordCounts) found(it Item, evidence []graphrag.Hit) (float64, bool) {
	if len(it.Gold) == 0 {
		return 0, false
	}
	known := new(text.Vocabulary) // vocabulary of the statements
	var statements [][]int
	for _, s := range it.GoldStatements() {
		if words := w.content(known, s); len(words) > 0 {
			statements = append(statements, words)
		}
	}
	idf := make([]float64, known.Len())
	for i := range idf {
		idf[i] = w.idf(known.At(i))
	}
	covered, found := make([]bool, len(statements)), 0
	for _, e := range evidence {
		if !it.isGold(e.Chunk.Doc) {
			continue
		}
		has := make([]bool, known.Len())
		w.analyzer.Words(e.Chunk.Text, func(word []byte) bool {
			if n := known.Find(word); n >= 0 {
				has[n] = true
			}
			return true
		})
		for i, words := range statements {
			var all, here float64
			for _, word := range words {
				all += idf[word]
				if has[word] {
					here += idf[word]
				}
			}
			if !covered[i] && here/all >= foundShare {
				covered[i] = true
				found++
			}
		}
	}
	return float64(found) / float64(max(len(statements), 1)), len(statements) > 0
}

// Limits of the excerpts of a prompt that a record keeps to show why an answer is as it is: 3 KB for an answer.
const (
	excerptBytes    = 320 // bytes of one excerpt
	excerpts        = 6   // source texts: cited ones, then gold documents, then others
	derivedExcerpts = 2   // derived texts: facts and summaries
)

// excerpt stores excerpts of the prompt with an answer: the quotes of the answer, or else the window of a text
// with most words of the gold answer and the question.
func excerpt(out *record.Answer, a graphrag.Answer, it Item) {
	a.Citations = slices.DeleteFunc(slices.Clone(a.Citations), func(c graphrag.Citation) bool {
		return c.Start < 0 || c.Start >= c.End || c.End > len(a.Text) || c.Of == graphrag.OfSource || c.Of == "" && (c.Evidence < 0 || c.Evidence >= len(a.Evidence))
	})
	out.Citations = a.Citations
	want := wordsOf(append(it.GoldStatements(), it.Question.Text)...)
	for _, i := range chosen(a, it) {
		seek := want
		var quotes [][2]int
		for _, c := range a.Citations {
			if c.Of != "" || c.Evidence != i {
				continue
			}
			if q, ok := quoted(a, c); ok {
				quotes = append(quotes, q)
			} else {
				seek = wordsOf(a.Text[c.Start:c.End])
			}
		}
		slices.SortFunc(quotes, func(x, y [2]int) int { return cmp.Compare(x[0], y[0]) })
		out.Evidence[i].Excerpt, out.Evidence[i].Quotes = window(a.Evidence[i].Chunk.Text, quotes, seek)
	}
	for i, d := range a.Derived[:min(derivedExcerpts, len(a.Derived))] {
		out.Derived[i].Excerpt, _ = window(d.Text, nil, want)
	}
}

// chosen lists the evidence of which an excerpt is stored, the most important first: cited texts, gold
// documents, then other texts.
func chosen(a graphrag.Answer, it Item) []int {
	order, class := make([]int, len(a.Evidence)), make([]int, len(a.Evidence))
	for i, h := range a.Evidence {
		order[i], class[i] = i, 2
		if it.isGold(h.Chunk.Doc) {
			class[i] = 1
		}
	}
	for _, c := range a.Citations {
		if c.Of == "" {
			class[c.Evidence] = 0
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(class[x], class[y]) })
	return order[:min(excerpts, len(order))]
}

// quoted returns the byte range of a chunk that a citation quotes: from the citation's offsets if the chunk is
// a span of its document and they are valid, or else where the chunk contains the cited words. It is false if
// the whole chunk is cited.
func quoted(a graphrag.Answer, c graphrag.Citation) ([2]int, bool) {
	chunk := a.Evidence[c.Evidence].Chunk
	from, to := c.SourceStart-chunk.Start, c.SourceEnd-chunk.Start
	if chunk.End-chunk.Start == len(chunk.Text) && 0 <= from && from < to && to <= len(chunk.Text) && to-from < len(chunk.Text) {
		return [2]int{from, to}, true
	}
	quote := strings.TrimSpace(a.Text[c.Start:c.End])
	from = strings.Index(chunk.Text, quote)
	return [2]int{from, from + len(quote)}, from >= 0 && quote != ""
}

// window returns the part of a text around its first quote, or the part with most of the words in seek, and the
// offsets of the quotes in it. An ellipsis marks each omission.
func window(s string, quotes [][2]int, seek map[string]bool) (string, [][2]int) {
	from, to := 0, len(s)
	if len(s) > excerptBytes {
		if len(quotes) > 0 {
			from = quotes[0][0] - excerptBytes/4
		} else {
			from = densest(s, seek)
		}
		from = wordAt(s, max(min(from, len(s)-excerptBytes), 0))
		to = wordAt(s, min(from+excerptBytes, len(s)))
	}
	head, tail := "", ""
	if from > 0 {
		head = "… "
	}
	if to < len(s) {
		tail = " …"
	}
	var shown [][2]int
	for _, q := range quotes {
		if q[0] < to && q[1] > from {
			shown = append(shown, [2]int{max(q[0], from) - from + len(head), min(q[1], to) - from + len(head)})
		}
	}
	return head + s[from:to] + tail, shown
}

// densest returns the start of the window with the most different words of a set; it may be negative.
func densest(s string, seek map[string]bool) int {
	type hit struct {
		at   int
		word string
	}
	var hits []hit
	eachWord(s, func(at int, word string) {
		if seek[word] {
			hits = append(hits, hit{at, word})
		}
	})
	best, most, first := 0, 0, 0
	inside := make(map[string]int)
	for _, h := range hits {
		inside[h.word]++
		for ; h.at-hits[first].at > excerptBytes*3/4; first++ {
			if w := hits[first].word; inside[w] == 1 {
				delete(inside, w)
			} else {
				inside[w]--
			}
		}
		if len(inside) > most {
			best, most = hits[first].at, len(inside)
		}
	}
	return best - excerptBytes/8
}

// eachWord calls each for every content word of a text, in lower case: numbers, and words of 4 bytes or more.
func eachWord(s string, each func(at int, word string)) {
	start := -1
	for i, r := range s + " " {
		switch inWord := unicode.IsLetter(r) || unicode.IsDigit(r); {
		case inWord && start < 0:
			start = i
		case !inWord && start >= 0:
			if i-start >= 4 || s[start] <= '9' {
				each(start, strings.ToLower(s[start:i]))
			}
			start = -1
		}
	}
}

func wordsOf(texts ...string) map[string]bool {
	out := make(map[string]bool)
	for _, s := range texts {
		eachWord(s, func(_ int, word string) { out[word] = true })
	}
	return out
}

// wordAt moves an offset to the next start of a word within 24 bytes, or else back to the start of a character.
func wordAt(s string, at int) int {
	for i := at; i > 0 && i < min(at+24, len(s)); i++ {
		if s[i-1] == ' ' || s[i-1] == '\n' {
			return i
		}
	}
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}
