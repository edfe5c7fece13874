// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Sentences of about eight words, questions, and what tells no language.
func TestLanguageOf(t *testing.T) {
	for s, want := range map[string]text.Language{
		"The ferry leaves the old harbour at seven.":               text.English,
		"Who repaired the roof of the club house?":                 text.English,
		"Die Fähre verlässt den alten Hafen um sieben Uhr.":        text.German,
		"Wer hat das Dach des Vereinsheims repariert?":             text.German,
		"Wann öffnet die Bäckerei?":                                text.German,
		"Le bac quitte le vieux port à sept heures.":               text.French,
		"Qui a réparé le toit du club ?":                           text.French,
		"El barco sale del puerto viejo a las siete.":              text.Spanish,
		"¿Quién reparó el tejado del club?":                        text.Spanish,
		"Il traghetto parte dal porto vecchio alle sette.":         text.Italian,
		"Chi ha riparato il tetto del circolo?":                    text.Italian,
		"O barco sai do porto velho às sete horas da manhã.":       text.Portuguese,
		"Quem reparou o telhado do clube?":                         text.Portuguese,
		"De veerboot vaart elke dag van de haven naar het eiland.": text.Dutch,
		"Wie heeft het dak van het clubhuis hersteld?":             text.Dutch,
		"Färjan går från den gamla hamnen och kommer till ön.":     text.Swedish,
		"Vem lagade taket på klubbhuset?":                          text.Swedish,
		"Fergen går ikke fra den gamle havnen etter klokken sju.":  text.Norwegian,
		"Hvem reparerte taket på klubbhuset?":                      text.Norwegian,
		"Паром отходит из старого порта в семь часов.":             text.Russian,
		"Кто починил крышу клуба?":                                 text.Russian,
		"渡轮七点离开旧港口。":                                               text.Chinese,
		"谁修好了俱乐部的屋顶？":                                              text.Chinese,
		"フェリーは七時に古い港を出ます。":                                         text.Japanese,
		"クラブの屋根を修理したのは誰ですか。":                                       text.Japanese,
		"El Niño": "", "Die Hard (1988)": "", "": "", "12.10.2003": "", "Café Müller, São Paulo": "", "Ö": "",
	} {
		if got := text.LanguageOf(s); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}
