// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

func ExampleReadQuestion() {
	q := text.ReadQuestion("Summarize the key changes to the Fram between 1892 and 1910, and what Colin Archer said of the Fram.")
	fmt.Println(q.Words)
	fmt.Println(q.Names)
	fmt.Println(q.Overview)
	// Output:
	// changes fram 1892 1910 colin archer said fram
	// fram 1892 1910 colin archer
	// true
}

func TestReadQuestion(t *testing.T) {
	for _, tt := range []struct {
		question string
		want     text.Wording
	}{
		{"", text.Wording{}},
		{"what is it", text.Wording{}},
		{"Describe specific details", text.Wording{Words: "describe specific details", Overview: true}},
		{"Who built the Fram?", text.Wording{Words: "built fram", Names: "fram"}},
		{"Amundsen sailed when?", text.Wording{Words: "amundsen sailed"}},
		{"What were the main consequences of the war?", text.Wording{Words: "consequences war", Overview: true}},
		{"what were the long term effects of smoking", text.Wording{Words: "long term effects smoking", Overview: true}},
		{"Give me an overview of tides", text.Wording{Words: "tides", Overview: true}},
		{"What was the name of the ship?", text.Wording{Words: "name ship"}},
		{"Où est né Émile Zola?", text.Wording{Words: "Où est né Émile Zola?", Names: "émile zola"}},
		{"故宫在哪里", text.Wording{Words: "故宫在哪里"}},
	} {
		if diff := cmp.Diff(tt.want, text.ReadQuestion(tt.question)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.question, diff)
		}
	}
}

func TestAsksOverview(t *testing.T) {
	for _, yes := range []string{"Gib mir einen Überblick über die Gezeiten.", "Bitte beschreibe das Schiff", "Résumez les voyages du navire.", "Explique la marée",
		"Resume la historia del barco", "Describa el faro.", "Riassumi i viaggi della nave", "Descreva o farol.", "Geef een overzicht van de reizen.", "Beschrijf de vuurtoren",
		"Sammanfatta fartygets historia", "Gi en oversikt over skipet.", "Опишите историю корабля.", "船の歴史をまとめてください。", "请总结这艘船的历史。"} {
		if !text.AsksOverview(yes) {
			t.Errorf("%q asks for an overview", yes)
		}
	}
	for _, no := range []string{"Wer baute das Schiff?", "Où est né Zola?", "¿Quién construyó el barco?", "Chi costruì la nave?", "Quem construiu o navio?", "Wie bouwde het schip?",
		"Vem byggde fartyget?", "Hvem bygde skipet?", "Кто построил корабль?", "誰が船を作りましたか。", "谁建造了这艘船？", "Legt das Schiff in Oslo ab?", "When did the panoramic view open?", "Vatican City is how large?", "Spiegelt das Wasser den Turm?", "Fassen die Boote hundert Gäste?"} {
		if text.AsksOverview(no) {
			t.Errorf("%q asks for a fact", no)
		}
	}
}

// Of a page that is asked, the beginning counts.
func TestLongQuestion(t *testing.T) {
	q := text.ReadQuestion("Summarize this. " + strings.Repeat("The Fram sailed. ", 100_000))
	if n := len(strings.Fields(q.Words)); n > 256 || n < 100 || q.Names != "fram" || !q.Overview {
		t.Errorf("%d words, names %q, overview %v", n, q.Names, q.Overview)
	}
}

func TestInContext(t *testing.T) {
	for _, tt := range []struct {
		question, before, answer, want string
	}{
		{"Who built it?", "When was the Eddystone tower lit?", "", "Who built it? (Eddystone)"},
		{"And in Plymouth?", "When was the tower lit?", "", "And in Plymouth? (tower lit)"},
		{"What about owls?", "How does the mouse hide?", "", "What about owls? (mouse hide)"},
		{"Why?", "How does the mouse hide?", "", "Why? (mouse hide)"},
		{"How does the owl find a mouse?", "When was the tower lit?", "", "How does the owl find a mouse?"},
		{"Who was Ada Lovelace?", "When was the tower lit?", "", "Who was Ada Lovelace?"},
		{"Who built it?", "", "", "Who built it?"},
		{"And where was he born?", "Who designed the bridge?", "The bridge is near Leith. It was designed by Edmund Carrick.", "And where was he born? (Edmund Carrick)"},
		{"When was she born?", "Who designed the Aven Bridge?", "", "When was she born? (Aven Bridge)"}, // refused
		{"When was it opened?", "Who designed the Aven Bridge?", "Edmund Carrick designed it.", "When was it opened? (Aven Bridge)"},
		{"When did she die?", "Where did Ada Lovelace live?", "Ada Lovelace lived with Lord King.", "When did she die? (Ada Lovelace)"},
		{"How old is it?", "Which ferry has Berit Moe as captain?", "Ferry: Ragna", "How old is it? (Berit Moe)"},
		{"And its price?", "What is the height of Stavik?", "Height: 214 m", "And its price? (Stavik)"},
		{"Where is he?", "Who was it?", "Tom Reed.\n\nnotes.md: “Ann Lee”", "Where is he? (Tom Reed)"},
	} {
		var before, answers []string
		if tt.before != "" {
			before, answers = []string{"What is a lamp?", tt.before}, []string{"", tt.answer}
		}
		if got := text.InContext(tt.question, before, answers); got != tt.want {
			t.Errorf("%q after %q is %q, want %q", tt.question, tt.before, got, tt.want)
		}
	}
}

// The name that an answer brought is passed on by the questions after it.
func TestInContextChain(t *testing.T) {
	before := []string{"Who designed the bridge?", "When was he born?"}
	if got := text.InContext("And where did he die?", before, []string{"It was designed by Edmund Carrick.", "He was born in 1829."}); got != "And where did he die? (Edmund Carrick)" {
		t.Error(got)
	}
	if got := text.InContext("And where did he die?", before, nil); got != "And where did he die? (born designed bridge)" {
		t.Error(got)
	}
}
