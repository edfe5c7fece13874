// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/neurosnap/sentences/english"

	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

func ExampleSentences() {
	s := "Dr. J. R. R. Tolkien was born on 3 Jan. 1892.[1] \"Is it so?\" he asked.\n\n* an item\n* 今天很好。明天呢？"
	for _, p := range text.Sentences(s) {
		fmt.Println(p.Start, p.In(s))
	}
	// Output:
	// 0 Dr. J. R. R. Tolkien was born on 3 Jan. 1892.[1]
	// 49 "Is it so?" he asked.
	// 72 * an item
	// 82 * 今天很好。
	// 99 明天呢？
}

func cut(s string) []string {
	var out []string
	for _, p := range text.Sentences(s) {
		out = append(out, p.In(s))
	}
	return out
}

func TestSentences(t *testing.T) {
	// ¶ marks the cuts; the white space after it is not part of a sentence.
	for _, marked := range []string{
		"",
		"no stop at all",
		"He lived at 20 Northmoor Rd. in Oxford for approx. ten years.[1]¶ The U.S. Army asked him (see Fig. 3).¶ Then he left.",
		`"Is it so?" he asked.¶ "It is."¶ Then he went.`,
		"He served under Lt. Col. Smith Jr. and Mr. Brown, e.g. in France.¶ It cost $3.5 million, i.e. a lot!¶ Prices rose 3.4% in 1945.¶ The war ended.",
		"Yahoo! is a company.¶ She went to Washington, D.C.¶ The trip was long.¶ They moved to the U.S. in 1950.",
		"See pp. 12-14 of vol. 3.¶ It was option B.¶ The next was C.",
		"Wright et al. (1920) found it.¶ See art. 5 and ref. 7.¶ He made art.¶ Picasso came.",
		"I never meant that....¶ She left.¶ It was . . . fine.¶ Well . . .¶ Next.",
		`He said "It is good."¶ Then he went.¶ (He came back.)¶ The end.`,
		"No. 10 is at St. James's.¶ He earned a Ph.D. in 1911.¶ At 5 p.m. Mr. Lee left.¶ Is it 5 a.m. now?!¶ Yes.",
		`"Never!" said John F. Kennedy.[2][3]¶ Go on.`,
		"今天很好。¶明天呢？¶「好的！」¶他说。",
		"यह एक वाक्य है।¶ दूसरा वाक्य।",
		"هل هذا جيد؟¶ نعم.",
		"Version 3.14 of example.org is out.¶ See http://a.b/c.d?e=f!g for it.",
		"1. The first item.\n¶2. The second item.¶ It goes on.\n¶12) Brackets.¶ Two.\n¶* 3. Both.\n¶## 1.2. A Heading\n¶Text.¶ It cost 5.¶ Then 6 more.",
		"# A heading\n¶A wrapped\nparagraph of two lines.¶ And more\n\n¶- first item\n¶- second\n  item\n¶1. third. item\n¶| a. b | c |\n¶|---|---|\n¶***\n¶end",
		"> quoted text\n> goes on\n¶>\n¶> second",
		"Windows line\r\nends.¶ Here\r\n\r\n¶there",
		"a\xffb.¶ C\x00dx.¶ E",
		"? ! .",
	} {
		checkCut(t, marked)
	}
}

// A text in another language has the abbreviations, ordinals and sentence beginnings of that.
func TestSentencesOfLanguages(t *testing.T) {
	for language, marked := range map[text.Language]string{
		text.German: "Dr. Müller und Prof. Dr. Weiß kamen am 3. März 1921 nach St. Gallen.¶ Die Bahn, vgl. Abb. 3 auf S. 12, war z. B. Anfang des 19. Jahrhunderts noch nicht da.¶ " +
			"Das Haus Nr. 5 gehörte der Fa. Meier, ca. 50 m vom Bahnhof, d. h. Gleis 2.¶ Das war 1903 n. Chr.¶ Die Brücke wurde 1945 zerstört.¶ Es gab Äpfel, Birnen usw.¶ Danach ging er.",
		text.French: "M. Dupont et Mme. Curie sont arrivés à St. Denis avec le Dr. Roux.¶ Voir p. 12 et fig. 3 du vol. 2.¶ César est mort en 44 av. J.-C.¶ L'empire a suivi.¶ " +
			"Il dit : « Oui. »¶ J. B. Say n'est pas d'accord !¶ J'ai fini.",
		text.Spanish:    "El Sr. García y la Sra. López viven en la Av. Bolívar núm. 5 desde 1998.¶ Los EE. UU. firmaron el acuerdo, véase pág. 12 del vol. 3.¶ ¿Quién es el Dr. Ruiz?¶ Es de Lima.",
		text.Italian:    "Il Sig. Rossi e la Dott.ssa Bianchi sono arrivati con l'Ing. Verdi.¶ Vedi pag. 12 e il cap. 3, ad es. Roma nel sec. XIX.¶ L'uomo è tornato nel 1945.¶ La guerra era finita.",
		text.Portuguese: "O Sr. Silva e a Dra. Costa moram na Av. Paulista há dez anos.¶ Veja a pág. 12 do vol. 3, p. ex. Lisboa.¶ A obra foi feita em 1945.¶ O rio não é fundo.",
		text.Dutch:      "Dhr. Jansen en mevr. Bos wonen op nr. 5 bij de St. Jan.¶ Zie blz. 12 en afb. 3, bijv. Utrecht.¶ Het huis werd in 1945 gebouwd.¶ De brug is van drs. Bakker.",
		text.Swedish:    "Hr. Berg och prof. Lind kom till St. Olof kl. 8 på kvällen.¶ Se sid. 12 och fig. 3, t.ex. Uppsala eller bl.a. Lund.¶ Huset byggdes 1945.¶ Det är inte stort.",
		text.Norwegian:  "Hr. Berg og prof. Lie kom til St. Olav kl. 8 om kvelden, ca. 50 personer.¶ Se kap. 3, f.eks. Bergen.¶ Huset ble bygget 3. mars 1945.¶ Det er ikke stort.",
		text.Russian:    "В 1945 г. Иванов жил на ул. Ленина, д. 5, кв. 12.¶ Проф. Петров и акад. А. Н. Крылов работали там, см. рис. 3.¶ Он родился в Москве, т. е. Россия была ему домом.¶ Это было в XIX в.¶ Они уехали.",
		text.Chinese:    "今天很好。¶明天呢？¶他来了！¶「好的！」¶他说。¶这是3.14版。",
		text.Japanese:   "今日は晴れです。¶「はい。」と彼は言った。¶本当ですか？¶『そうです。』¶次へ。",
		text.English:    "Dr. Smith met Mr. Jones at St. James's on the 3rd of March.¶ The end.",
	} {
		checkCutIn(t, language, marked)
	}
}

func checkCutIn(t *testing.T, language text.Language, marked string) {
	t.Helper()
	if got := text.LanguageOf(marked); got != language {
		t.Errorf("%s is taken for %q", language, got)
	}
	checkCut(t, marked)
}

// A title ends no sentence, not even before a name that begins with a stop word.
func TestTitlesBeforeNames(t *testing.T) {
	for language, marked := range map[text.Language]string{
		text.German:     "Das ist die Frau von Hr. Von der Heyden und Dr. Zum Felde.¶ Er ist nicht da.",
		text.French:     "C'est la maison de M. Le Pen et de Mme. De La Tour, avec Mgr. Le Roux.¶ Elle est haute de 5 m.¶ Le mur ne l'est pas.",
		text.Spanish:    "El libro es de la Sra. De la Cruz y del Sr. Del Río.¶ La Dra. La Torre no está en la casa.",
		text.Italian:    "La casa è del Sig. De Luca e della Sig.ra Di Stefano, con il Dott. Del Piero.¶ L'Ing. La Rocca non è qui.",
		text.Portuguese: "A casa é do Sr. Dos Santos e da Sra. Da Silva, com o Dr. De Sousa.¶ O livro não é dela.",
		text.Dutch:      "Het huis is van mevr. De Vries en dhr. Van den Berg, met prof. Van Dijk en ir. De Boer.¶ Drs. Het Hoen is niet hier, maar ds. De Wit wel.",
		text.Swedish:    "Det är huset som hr. De Geer och dr. Von Sydow har.¶ Prof. Av Ugglas är inte här.",
		text.Norwegian:  "Det er huset til hr. De Lange og dr. Von Krogh.¶ Prof. Av Berg er ikke her.",
		text.Russian:    "Это дом, где жил проф. Де Фриз и акад. Фон Браун.¶ Он не был там.",
		text.English:    "It is the house of Mr. De Vries and Mrs. Van Dyke, with Dr. Del Rio.¶ He is not here.",
	} {
		checkCutIn(t, language, marked)
	}
}

// checkCut cuts a text whose cuts are marked.
func checkCut(t *testing.T, marked string) {
	t.Helper()
	var want []string
	for _, piece := range strings.Split(marked, "¶") {
		if piece = strings.TrimSpace(piece); piece != "" {
			want = append(want, piece)
		}
	}
	if marked == "? ! ." {
		want = []string{"?", "!", "."}
	}
	if diff := cmp.Diff(want, cut(strings.ReplaceAll(marked, "¶", ""))); diff != "" {
		t.Errorf("%q (-want +got):\n%s", marked, diff)
	}
}

// checkSentences holds what must be true of every text.
func checkSentences(t *testing.T, s string) {
	t.Helper()
	at, valid := 0, utf8.ValidString(s)
	for _, p := range text.Sentences(s) {
		if p.Start < at || p.End <= p.Start || p.End > len(s) {
			t.Fatalf("%q: span %v after offset %d", s, p, at)
		}
		if strings.TrimSpace(s[at:p.Start]) != "" {
			t.Fatalf("%q: %q is in no sentence", s, s[at:p.Start])
		}
		if got := p.In(s); strings.TrimFunc(got, unicode.IsSpace) != got {
			t.Fatalf("%q: %q is not trimmed", s, got)
		}
		if valid && !utf8.ValidString(p.In(s)) {
			t.Fatalf("%q: %q cuts a rune", s, p.In(s))
		}
		at = p.End
	}
	if strings.TrimSpace(s[at:]) != "" {
		t.Fatalf("%q: %q is in no sentence", s, s[at:])
	}
}

func TestSentencesProperties(t *testing.T) {
	pieces := []string{"Dr", ".", "!", "?", " ", "\n", "\n\n", "The", "u.s", "9", "[1]", ")", "”", "。", "é", "\xff", "\x00", "- ", "| ", "…", "...", "\u2028", "a", "'", "’", "l'"}
	// The words tell the language, whose abbreviations decide.
	languages := []string{"", "Der Mann und die Frau sind nicht auf dem Weg. ", "Le chat est dans la maison et elle ne dort pas. ", "Он не был в доме и она не была там. "}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		b.WriteString(languages[rng.IntN(len(languages))])
		for range rng.IntN(30) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		checkSentences(t, b.String())
	}
	// Long runs must not take quadratic time.
	for _, piece := range []string{".", "a", " ", "\n", "[", "a. ", "... ", ". ", "。", "[1]", "- ", "\"", "1. "} {
		checkSentences(t, strings.Repeat(piece, 200_000))
	}
}

func FuzzSentences(f *testing.F) {
	for _, s := range []string{"", "A. B", "a\n\nb", "。\xff.", "- 1. [1] U.S. ... “x.” y", "Der Mann und die Frau sind nicht da. '. ?", strings.Repeat(". ", 50)} {
		f.Add(s)
	}
	f.Fuzz(checkSentences)
}

func TestSentencesOfPages(t *testing.T) {
	for _, s := range texttest.Pages(t, 14) {
		checkSentences(t, s)
	}
}

func BenchmarkSentences(b *testing.B) {
	pages := texttest.Pages(b, 14)
	b.Run("pages", func(b *testing.B) {
		b.SetBytes(texttest.Size(pages))
		b.ReportAllocs()
		for b.Loop() {
			for _, s := range pages {
				text.Sentences(s)
			}
		}
	})
	prose := strings.Repeat("Dr. Smith, who was born in 1892, went to the U.S. in June. Then he wrote a long book about it. ", 10_000)
	b.Run("prose", func(b *testing.B) {
		b.SetBytes(int64(len(prose)))
		b.ReportAllocs()
		for b.Loop() {
			text.Sentences(prose)
		}
	})
	b.Run("neurosnap", func(b *testing.B) {
		tok, err := english.NewSentenceTokenizer(nil)
		texttest.OK(b, err)
		b.SetBytes(texttest.Size(pages))
		b.ReportAllocs()
		for b.Loop() {
			for _, s := range pages {
				tok.Tokenize(s)
			}
		}
	})
}
