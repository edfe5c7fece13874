// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/internal/check"
)

// read extracts from one text, with spellings learned from that text only.
func read(t testing.TB, s string, o rules.Options) kg.Extraction {
	t.Helper()
	return readWith(t, extractor(t, o), s)
}

func extractor(t testing.TB, o rules.Options) *rules.Extractor {
	t.Helper()
	return check.Of(rules.New(o)).OK(t)
}

func readWith(t testing.TB, x extract.Extractor, s string) kg.Extraction {
	t.Helper()
	found := check.Of(x.Extract(context.Background(), []graphrag.Chunk{{ID: "d#000000", Doc: "d", Text: s}})).OK(t)
	return found[0]
}

func names(x kg.Extraction) []string {
	var out []string
	for _, m := range x.Mentions {
		out = append(out, m.Name+"/"+m.Type)
	}
	return out
}

func triples(x kg.Extraction) []string {
	var out []string
	for _, f := range x.Facts {
		out = append(out, fmt.Sprintf("%s | %s | %s", f.Head, f.Relation, f.Tail))
	}
	return out
}

func TestNames(t *testing.T) {
	for _, row := range check.Rows(t, "testdata/names.txt") {
		text, want := row[0], row[1]
		got := strings.Join(names(read(t, text, rules.Options{})), ", ")
		check.Equal(t, got, want, "%s\n got %s", text, got)
	}
}

func TestTriples(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"In 1994 Jeff Bezos and Ann Smith founded Amazon in Seattle.",
			"Ann Smith | founded | Amazon; Jeff Bezos | founded | Amazon; Ann Smith | founded in | Seattle; Jeff Bezos | founded in | Seattle"},
		{"In Seattle, Amazon was founded by Jeff Bezos in July 1994.", "Amazon | was founded by | Jeff Bezos; Amazon | was founded in | July 1994"},
		{"Norway did not join the European Union in the end.", "Norway | did not join | European Union"},
		{"Anthony Albanese, the prime minister of Australia, praised them.", "Anthony Albanese | is prime minister of | Australia"},
		{"The match was watched by Australia's Prime Minister Anthony Albanese.", "Anthony Albanese | is prime minister of | Australia"},
		{"The FIFA president Gianni Infantino spoke for an hour.", "Gianni Infantino | is president of | FIFA"},
		{"Leonhard Euler (1707–1783) was a Swiss mathematician and wrote a lot.", "Leonhard Euler | lived | 1707–1783"},
		{"Paris is the capital of France, as everybody knows.", "Paris | is capital of | France"},
		{"Russia invaded Finland and lost to Poland.", "Russia | invaded | Finland"},
		{"In the end the Berlin President II Anna Smith of the town and the FIFA President V Otto Hahn were there.", ""},
		{"Did Russia invade Finland in the winter of that year?", ""},
		{"If Russia invades Finland, nobody will be surprised by it.", ""},
		{"The president of France met Angela Merkel in the town.", ""},
		{"In the night, Haiyan hit Vietnam, China and Laos.", "Haiyan | hit | Vietnam; Haiyan | hit | China; Haiyan | hit | Laos"},
		{"Argentina beat France and Croatia beat Morocco in the finals.", "Argentina | beat | France"}, // who did what after "and" is not clear from the words alone,
	} {
		got := strings.Join(triples(read(t, c.text, rules.Options{})), "; ")
		check.Equal(t, got, c.want, "%s\n got %s", c.text, got)
	}
}

func TestHedged(t *testing.T) {
	x := read(t, "Officials said that Russia invaded Finland in the night.", rules.Options{})
	check.True(t, len(x.Facts) == 1 && x.Facts[0].Weight == 0.5, "a reported fact: %+v", x.Facts)
}

func TestCorpusCase(t *testing.T) {
	// The corpus shows how words are written inside sentences; the beginning of a sentence and a headline do
	// not show it.
	corpus := []string{
		"He came to see Brasilia and he left Brasilia again. She said Brasilia was hot, and all voters were tired of Brasilia.",
		"Brasilia was never closer to him than in that year. Voters were not happy with it, and then some voters left.",
		"# Voters Leave Brasilia For Good",
	}
	var chunks []graphrag.Chunk
	for i, s := range corpus {
		chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprint(i), Doc: fmt.Sprint(i), Text: s})
	}
	x := extractor(t, rules.Options{})
	found := check.Of(x.Extract(context.Background(), chunks)).OK(t)
	for i, want := range []int{4, 1, 1} {
		got := names(found[i])
		check.True(t, len(got) == want && got[0] == "Brasilia/other", "text %d: %v, want Brasilia %d times", i, got, want)
	}
}

func TestSharedLines(t *testing.T) {
	var chunks []graphrag.Chunk
	for i := range 5 {
		chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprint(i), Doc: fmt.Sprint(i),
			Text: "The weather in Toronto is brought to you by Acme Foods and the rest of us.\n\nHe went to see Vienna in the spring, page " + fmt.Sprint(i) + " of it."})
	}
	x := extractor(t, rules.Options{})
	found := check.Of(x.Extract(context.Background(), chunks)).OK(t)
	for _, e := range found {
		got := names(e)
		check.Equal(t, got, []string{"Vienna/place"}, "got %v, want the names of what the page says alone", got)
	}
}

func TestScripts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"预计，“韦森特”将以每小时20-25公里的速度继续向西偏北方向移动，强度逐渐减弱。", ""},
		{"[PERSON#7]2012年7月24日在东京，强度逐渐减弱。", "PERSON#7/person, 2012年7月24日/date"},
		{"وقال الرئيس إن العاصفة سوف تصل إلى الساحل يوم الثلاثاء.", ""},
		{"Вчера в городе Владимир Путин встретился с Ангелой Меркель и долго говорил.", "Владимир Путин/person, Ангелой Меркель/person"},
	} {
		got := strings.Join(names(read(t, c.text, rules.Options{})), ", ")
		check.Equal(t, got, c.want, "%s\n got %s", c.text, got)
	}
}

func TestEntities(t *testing.T) {
	x := extractor(t, rules.Options{})
	known := map[string]bool{"black hole": true, "new york": true, "marie curie": true}
	for _, c := range []struct{ question, want string }{
		{"Who founded the University of Oxford?", "University of Oxford/organization"},
		{"when did marie curie move to new york?", "marie curie/person, new york/place"},
		{"Which film by Ridley Scott is called \"Blade Runner\"?", "Ridley Scott/person, Blade Runner/work"},
		{"What is a black hole?", "black hole/other"},
		{"In what year was Marie Curie born, and where?", "Marie Curie/person"},
		{"", ""},
	} {
		var got []string
		for _, m := range x.Entities(c.question, func(s string) bool { return known[s] }) {
			got = append(got, m.Name+"/"+m.Type)
			check.Equal(t, c.question[m.Span.Start:m.Span.End], m.Name,
				"%q: span %v is not", c.question, m.Span)
		}
		s := strings.Join(got, ", ")
		check.Equal(t, s, c.want, "%s\n got %s", c.question, s)
	}
}

func TestOptions(t *testing.T) {
	_, err := rules.New(rules.Options{Workers: -1})
	check.True(t, err != nil && strings.Contains(err.Error(), "Workers is -1"), "error %v does not tell of Workers", err)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	check.Is(t, check.Err(extractor(t, rules.Options{}).Extract(ctx, []graphrag.Chunk{{ID: "a", Text: "Some text."}})), context.Canceled, "err =")
}

func TestHostile(t *testing.T) {
	long := strings.Repeat("Aa", 500_000)
	for name, s := range map[string]string{
		"empty": "", "blanks": " \n\t ", "control": "The \x00King\x01 of \x7fSiam \x1bwas Mongkut, and he was the king of Siam.",
		"invalid": "He saw \xff\xfePar\xc3is and Ber\xe2\x80lin in the summer of that year.", "long word": "He saw " + long + " in the summer of that year.",
		"long name": "He saw " + strings.Repeat("Aa ", 330_000) + "in it.", "brackets": strings.Repeat("([", 300_000), "link": strings.Repeat("](", 300_000),
		"quotes": strings.Repeat("\"Aa ", 200_000), "commas": "He saw " + strings.Repeat("Rome, ", 100_000) + "and was glad.", "of": strings.Repeat("University of ", 50_000),
	} {
		t.Run(name, func(t *testing.T) { checkSpans(t, s, read(t, s, rules.Options{})) })
	}
}

// checkSpans checks the package's promises on spans and names.
func checkSpans(t *testing.T, s string, x kg.Extraction) {
	t.Helper()
	inside := func(p kg.Span) bool {
		return 0 <= p.Start && p.Start < p.End && p.End <= len(s) && (p.Start == 0 || utf8.RuneStart(s[p.Start]) || !utf8.ValidString(s)) &&
			(p.End == len(s) || utf8.RuneStart(s[p.End]) || !utf8.ValidString(s))
	}
	known := map[string]bool{}
	for _, m := range x.Mentions {
		known[m.Name] = true
		check.Must(t, inside(m.Span), "span %v of %q is not within %d bytes", m.Span, m.Name, len(s))
		blanks := func(r rune) bool { return r <= ' ' || r == 0x7f }
		got := strings.Join(strings.FieldsFunc(s[m.Span.Start:m.Span.End], blanks), " ")
		check.Must(t, got == m.Name, "name %q, but its span has %q", m.Name, got)
	}
	for _, f := range x.Facts {
		check.Must(t, inside(f.Span) && known[f.Head] && known[f.Tail] && f.Relation != "", "fact %+v", f)
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("In 1994 Jeff Bezos founded Amazon (AMZN) in Seattle, Washington; “Day One” was its motto.")
	f.Add("台风韦森特今晨登陆 [Guangdong](http://example.org) 2012年7月24日。 Владимир Путин\xff — Sen. J. R. Smith's $1.2bn")
	f.Add("# Title Case Headline\n\n* Home\n* About Us\n| a | b |\nThe World\x00 Health Organization (W.H.O.) was in Apple, Inc. and the X.Y.Z")
	f.Add("ʼ Oʼ rock ʼnʼ roll ʼ90s Jamesʼ son, Hawaiʼi ʼ") // a letter that looks like an apostrophe
	x := extractor(f, rules.Options{Workers: 1})
	f.Fuzz(func(t *testing.T, s string) { checkSpans(t, s, readWith(t, x, s)) })
}

// The result depends neither on the order of the chunks nor on the number of workers.
func TestDeterminism(t *testing.T) {
	chunks := pages(40)
	want := map[string]kg.Extraction{}
	for workers := range 4 {
		x := extractor(t, rules.Options{Workers: workers + 1})
		found := check.Of(x.Extract(context.Background(), chunks)).OK(t)
		for _, e := range found {
			if workers == 0 {
				want[e.Chunk] = e
			} else if !reflect.DeepEqual(want[e.Chunk], e) {
				t.Fatalf("%d workers, other order: chunk %s differs", workers+1, e.Chunk)
			}
		}
		slices.Reverse(chunks)
		chunks = append(chunks[7:], chunks[:7]...)
	}
	check.Must(t, len(want) == 40 && len(want["d000#000000"].Facts) != 0, "%d extractions, the first with %d facts", len(want), len(want["d000#000000"].Facts))
}

// A name at the edge of a chunk that was cut out of a page may be only a part of a name.
func TestCutChunk(t *testing.T) {
	x := extractor(t, rules.Options{})
	found, err := x.Extract(context.Background(), []graphrag.Chunk{
		{ID: "d#000001", Doc: "d", Index: 1, Text: "Trump spoke to the men of Ohio and then he left for the town of Berlin."},
	})
	check.OK(t, err)
	check.Equal(t, names(found[0]), []string{"Ohio/place", "Berlin/place"})
}

// The three apostrophes are equal.
func TestApostrophes(t *testing.T) {
	const s = "In 1994 Jeff Bezos's company opened. Later Alice O'Connor met James' brother at St. John's Church in Hawai'i."
	want := names(read(t, s, rules.Options{}))
	for _, mark := range []string{"’", "ʼ"} {
		got := names(read(t, strings.ReplaceAll(s, "'", mark), rules.Options{}))
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], mark, "'")
		}
		check.Equal(t, got, want, "with %s (-' +%s)", mark, mark)
	}
}

// Nearly all names that a person accepted are found at their places. The verdicts are on a sample of distinct
// names from two domains for which the rules were not written.
func TestVerdicts(t *testing.T) {
	data := check.Of(os.ReadFile("testdata/verdicts.jsonl")).OK(t)
	x := extractor(t, rules.Options{})
	found := map[string]bool{} // by domain, page and name
	for _, domain := range []string{"history", "people"} {
		chunks, _ := realPages(t, domain)
		all := check.Of(x.Extract(t.Context(), chunks)).OK(t)
		for _, e := range all {
			for _, m := range e.Mentions {
				found[domain+"/"+e.Doc+"/"+m.Name] = true
			}
		}
	}
	total, kept := map[string]int{}, map[string]int{}
	for line := range bytes.Lines(data) {
		var v struct{ Domain, Page, Text, Verdict string }
		check.OK(t, json.Unmarshal(line, &v))
		total[v.Verdict]++
		if found[v.Domain+"/"+v.Page+"/"+v.Text] {
			kept[v.Verdict]++
		} else {
			t.Logf("not found: %s (%s)", v.Text, v.Verdict)
		}
	}
	t.Logf("found %v of %v", kept, total)
	precision := float64(kept["right"]) / float64(kept["right"]+kept["wrong"])
	check.True(t, precision >= 0.85 && kept["right"] >= total["right"]*95/100, "found %v of %v verdicts, precision %.3f", kept, total, precision)
}

// Placeholders of hidden names are names in every script, and texts that only look like one are not.
func TestPlaceholders(t *testing.T) {
	for text, want := range map[string][]string{
		"[PERSON#1]怕老死，乘筏渡海，拜[PERSON#19]为师，到[LOCATION#2]。":        {"LOCATION#2/place", "PERSON#1/person", "PERSON#19/person"},
		"The boat of [PERSON#3] reached [SHIP#1] in the morning.": {"PERSON#3/person", "SHIP#1/other"},
		"He wrote it in C#7, see PERSON #4 and person#5.":         nil,
	} {
		got := slices.DeleteFunc(names(read(t, text, rules.Options{})), func(n string) bool { return !strings.Contains(n, "#") })
		slices.Sort(got)
		diff := cmp.Diff(want, got)
		check.True(t, diff == "" || len(want)+len(got) == 0, "%s: %s", text, diff)
	}
}

func ExampleExtractor() {
	offline, err := rules.New(rules.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := offline.Extract(context.Background(), []graphrag.Chunk{{
		ID: "page#000000", Doc: "page",
		Text: "The Red Cross was founded by Henry Dunant in Geneva in 1863. Among its friends was Clara Barton, the founder of the American Red Cross.",
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range found[0].Mentions {
		fmt.Printf("%s (%s)\n", m.Name, m.Type)
	}
	for _, f := range found[0].Facts {
		fmt.Printf("%s – %s – %s\n", f.Head, f.Relation, f.Tail)
	}
	// Output:
	// Red Cross (other)
	// Henry Dunant (person)
	// Geneva (place)
	// 1863 (date)
	// Clara Barton (person)
	// American Red Cross (other)
	// Red Cross – was founded by – Henry Dunant
	// Red Cross – was founded in – Geneva
	// Red Cross – was founded in – 1863
	// Clara Barton – is founder of – American Red Cross
}

func ExampleExtractor_Entities() {
	offline, err := rules.New(rules.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	known := func(name string) bool { return name == "red cross" }
	for _, m := range offline.Entities("who started the red cross with Clara Barton?", known) {
		fmt.Println(m.Name)
	}
	// Output:
	// red cross
	// Clara Barton
}

func TestConformance(t *testing.T) {
	offline := check.Of(rules.New(rules.Options{})).OK(t)
	graphragtest.Extractor(t, offline)
}

// page is a short text like those of the web.
//
//go:embed testdata/page.md
var page string

func pages(n int) []graphrag.Chunk {
	var chunks []graphrag.Chunk
	for i := range n {
		id := fmt.Sprintf("d%03d", i)
		// Lines that many pages share would be taken for a menu.
		vary := strings.NewReplacer("Marla", fmt.Sprintf("Marla%c", 'a'+i%26), "July 19", fmt.Sprintf("July %d", i%28+1),
			"$12", fmt.Sprintf("$%d", 12+i), "1863", fmt.Sprint(1863+i))
		chunks = append(chunks, graphrag.Chunk{ID: id + "#000000", Doc: id, Text: vary.Replace(page)})
	}
	return chunks
}

// realPages returns the chunks of a domain, without links, and the number of bytes of their text.
func realPages(tb testing.TB, domain string) ([]graphrag.Chunk, int) {
	tb.Helper()
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		tb.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "corpus", domain, "*", "reference_pages", "*.txt"))
	check.Must(tb, err == nil && len(files) != 0, "no pages of %s in %s: %v", domain, dir, err)
	chunker := check.Of(chunk.New(chunk.Options{})).OK(tb)
	size := 0
	chunks := check.Of(chunker.All(context.Background(), func(yield func(graphrag.Document, error) bool) {
		for _, file := range files {
			data, err := os.ReadFile(file)
			clean, _ := text.StripLinks(string(data))
			size += len(clean)
			if !yield(graphrag.Document{ID: filepath.Base(file), Text: clean}, err) {
				return
			}
		}
	})).OK(tb)
	return chunks, size
}

func TestThemes(t *testing.T) {
	for _, tt := range []struct {
		question string
		names    []string
		want     []string
	}{
		{"Where was the builder of the Fram born?", []string{"Fram"}, []string{"builder", "born"}},
		{"What role did maritime trade routes play in Norway, and who paid?", []string{"Norway"}, []string{"role", "maritime trade routes play", "paid"}},
		{"the ice and the Ice", nil, []string{"ice"}},
		{"steam-engine parts, engines", nil, []string{"steam-engine parts", "engines"}},
		{"who is it?", nil, nil},
		{"", nil, nil},
	} {
		check.Equal(t, rules.Themes(tt.question, tt.names), tt.want, "%q", tt.question)
	}
}

// The extractions of a corpus are kept in memory, so lists have no spare capacity except for the allocator's
// rounding, at most an eighth beyond a few entries.
func TestListsAreOfTheirLength(t *testing.T) {
	var names strings.Builder
	for i := range 100 {
		fmt.Fprintf(&names, "Ann Smith%c met Bob Jones%c in May. ", 'a'+i%26, 'a'+i/26)
	}
	x := check.Of(rules.New(rules.Options{})).OK(t)
	found := check.Of(extract.Linked(x).Extract(t.Context(), []graphrag.Chunk{{ID: "1", Text: names.String()}, {ID: "2"}})).OK(t)
	m, f := found[0].Mentions, found[0].Facts
	check.True(t, len(m) >= 100 && len(f) >= 100 && cap(m) <= len(m)*9/8 && cap(f) <= len(f)*9/8,
		"%d mentions in room for %d, %d facts in room for %d", len(m), cap(m), len(f), cap(f))
	check.True(t, found[1].Mentions == nil && found[1].Facts == nil, "something in nothing: %+v", found[1])
}

// Blanks of more than one byte separate words like others, also at the beginning and at the end.
func TestQuestionNamesWideBlanks(t *testing.T) {
	x := check.Of(rules.New(rules.Options{})).OK(t)
	for _, q := range []string{"Was the Fram built by Fridtjof\u00a0Nansen?", "Was the\u2003Fram built by Fridtjof\u2003Nansen\u00a0", "\u3000Was the Fram built by Fridtjof\u3000Nansen"} {
		check.Equal(t, fold(x.QuestionNames(q, nil)), []string{"Fram", "Fridtjof\u00a0Nansen"}, "%q", q)
	}
}

// fold writes all blanks within a name as spaces.
func fold(names []string) []string {
	for i, n := range names {
		runes := []rune(n)
		for j, r := range runes {
			if j > 0 && (r == ' ' || r == '\u2003' || r == '\u3000') {
				runes[j] = '\u00a0'
			}
		}
		names[i] = string(runes)
	}
	return names
}

func TestMayBeNoun(t *testing.T) {
	for word, want := range map[string]bool{
		"ship": true, "engine": true, "norway": true, "mother": true, "müller": true, "北京": true, "fram": true,
		"the": false, "quickly": false, "was": false, "visited": false, "who": false, "because": false,
	} {
		check.Equal(t, rules.MayBeNoun(word), want, "%q", word)
	}
}

// readings is a tracer that counts the chunks that the rules read.
type readings struct{ n int64 }

func (r *readings) Start(ctx context.Context, _ string, _ ...slog.Attr) (context.Context, trace.Span) {
	return ctx, r
}

func (r *readings) Set(attrs ...slog.Attr) {
	for _, a := range attrs {
		if a.Key == "wildgraph.read" {
			r.n += a.Value.Int64()
		}
	}
}

func (r *readings) End(error) {}

// randomChunk has words that are names in one chunk and common words in another, and lines that become shared.
func randomChunk(r *rand.Rand, id string) graphrag.Chunk {
	words := strings.Fields("Archer archer Fram fram WHO Oslo Parker parker Bell bell Rock rock March Sandeman Quiviger Mungo mcDow eBay Bergen-based Hope hope " +
		"Lord Light light House house May may Trinity Institute of for and")
	word := func() string {
		if i := int(1 / (r.Float64() + .003)); i > 12 {
			return string("BKLMTbklmt"[i%10]) + string("aeiou"[i%5]) + string("rnlst"[i/5%5]) + string("aeiou"[i/25%5])
		}
		return words[r.IntN(len(words))]
	}
	var b strings.Builder
	for range r.IntN(9) {
		switch r.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "\nNews of %s and Weather %d\n", words[r.IntN(len(words))], r.IntN(3))
		case 1:
			fmt.Fprintf(&b, "%s: %s %s\n\n", word(), word(), word())
		case 2:
			fmt.Fprintf(&b, "Das Schiff %s und der Kapitän %s %s waren nicht auf dem Meer. ", word(), word(), word())
		default:
			fmt.Fprintf(&b, "%s %s was the captain of the %s, and he sailed from %s to the %s in 19%d with %s %s. ", word(), word(), word(), word(), word(), 10+r.IntN(80), word(), word())
		}
	}
	return graphrag.Chunk{ID: id, Doc: id[:3], Title: word(), Index: r.IntN(3) / 2, Text: b.String(), Tokens: b.Len() / 4}
}

// Whatever chunks are added and removed, the result equals that of one reading of all, and few are read again;
// also if the corpus becomes large, most of it is removed, or a change is cancelled.
func TestChanges(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		x := check.Of(rules.New(rules.Options{Workers: 1 + int(seed)%3})).OK(t)
		all := extract.Described(extract.Titled(extract.Linked(x), true))
		again, first := 0, 0
		ctx := new(memo.Keeper).With(t.Context())
		chunks := map[string]graphrag.Chunk{}
		for step := range 36 {
			of, come := 150+int(seed)*100, 1+r.IntN(3)
			switch step {
			case 0, 20:
				come = of
			case 16:
				chunks = map[string]graphrag.Chunk{}
			}
			for range come {
				id := fmt.Sprintf("%03d#%d", r.IntN(of), r.IntN(2))
				chunks[id] = randomChunk(r, id)
			}
			for range 2 {
				delete(chunks, fmt.Sprintf("%03d#0", r.IntN(of)))
			}
			ids := slices.Sorted(maps.Keys(chunks))
			if step%3 == 0 {
				slices.Reverse(ids)
			}
			var now []graphrag.Chunk
			for _, id := range ids {
				now = append(now, chunks[id])
			}
			if step%7 == 3 && len(now) > 1 { // a chunk twice, and two texts with one ID
				now = append(now, now[0], randomChunk(r, now[1].ID))
			}
			if step%11 == 5 {
				given, cancel := context.WithCancel(ctx)
				cancel()
				check.Must(t, check.Err(all.Extract(given, now[:len(now)/2])) != nil, "a change that was given up has no error")
			}
			read := &readings{}
			traced, _ := trace.Start(trace.With(ctx, read), "")
			got, err1 := all.Extract(traced, now)
			want, err2 := all.Extract(t.Context(), now)
			if !reflect.DeepEqual(want, got) || err1 != nil || err2 != nil {
				t.Fatalf("seed %d, step %d, %d chunks (-at once +changed):\n%.3000s %v %v", seed, step, len(now), cmp.Diff(want, got), err1, err2)
			}
			if come < 4 && step%11 != 5 && step%7 != 3 && step%7 != 4 && step != 16 {
				again, first = again+int(read.n)-come, first+come
			}
		}
		if again > 40*first { // for passages of an encyclopedia the factor is four
			t.Errorf("seed %d: beside %d chunks that came, %d were read again", seed, first, again)
		}
	}
}
