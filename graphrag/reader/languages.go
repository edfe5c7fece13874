// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"strings"
	"sync"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// wording is how a language asks, and how its answers look: lists of phrases, parted by
// commas. The rules of English and Chinese stand in question.go.
type wording struct {
	date, number, money, name string // what asks for one of these
	yesNo                     string // the first words of what asks for yes or no
	asking                    string // words of asking that few answers contain
	dates, numbers, coins     string // words of answers
}

var wordings = map[text.Language]wording{
	text.German: {"wann, in welchem jahr, um wie viel uhr, an welchem tag, welcher tag, seit wann, bis wann", "wie viele, wie viel, wieviel, wie lang, wie lange, wie hoch, wie alt, wie weit, wie tief, wie schwer, wie groß, wie oft, welche nummer", "was kostet, kosten, wie teuer, preis", "wer, wen, wem, wessen",
		"ist, sind, war, hat, haben, kann, darf, muss, gibt, wird", "heißt heißen nennt kostet kosten dauert gibt liegt lange hoch alt weit groß oft uhr jahr tag",
		"januar, februar, märz, april, mai, juni, juli, august, september, oktober, november, dezember, montag, dienstag, mittwoch, donnerstag, freitag, samstag, sonntag, montags, dienstags, mittwochs, donnerstags, freitags, samstags, sonntags, uhr, täglich, mittag", "zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn, elf, zwölf, zwanzig, dreißig, hundert, tausend, million, millionen", "euro, cent, franken, gratis, kostenlos"},
	text.French: {"quand, en quelle année, quelle année, à quelle heure, quel jour, quelle date", "combien, quel âge, quelle hauteur, quelle longueur, quel numéro", "combien coûte, combien coûtent, prix, tarif", "qui",
		"est, sont, peut, faut", "appelle nomme coûte trouve heure jour année combien",
		"janvier, février, mars, avril, mai, juin, juillet, août, septembre, octobre, novembre, décembre, lundi, mardi, mercredi, jeudi, vendredi, samedi, dimanche, heures, heure, midi, minuit", "deux, trois, quatre, cinq, six, sept, huit, neuf, dix, onze, douze, vingt, trente, cent, mille, million, millions", "euro, euros, francs, centimes, gratuit"},
	text.Spanish: {"cuándo, en qué año, a qué hora, qué día, qué fecha", "cuánto, cuántos, cuánta, cuántas, qué número, qué edad, qué altura", "cuánto cuesta, cuánto cuestan, precio, cuánto vale", "quién, quiénes",
		"es, son, está, hay, puede", "llama cuesta encuentra hora día año tiene mide pesa",
		"enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre, lunes, martes, miércoles, jueves, viernes, sábado, sábados, domingo, domingos, horas, mediodía", "dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez, once, doce, veinte, treinta, cien, mil, millón, millones", "euro, euros, pesos, céntimos, gratis"},
	text.Italian: {"quando, in che anno, in quale anno, a che ora, che giorno, quale giorno", "quanto, quanti, quante, quanta, che numero, quale numero", "quanto costa, quanto costano, prezzo", "chi",
		"è, sono, può, ha", "chiama costa trova ora giorno anno misura pesa dura",
		"gennaio, febbraio, marzo, aprile, maggio, giugno, luglio, agosto, settembre, ottobre, novembre, dicembre, lunedì, martedì, mercoledì, giovedì, venerdì, sabato, domenica, ore, mezzogiorno", "due, tre, quattro, cinque, sei, sette, otto, nove, dieci, undici, dodici, venti, trenta, cento, mille, mila, milione, milioni", "euro, centesimi, lire, gratis"},
	text.Portuguese: {"quando, em que ano, a que horas, que dia, em que dia, que data", "quanto, quantos, quantas, quanta, que número, que idade", "quanto custa, quanto custam, preço", "quem",
		"é, são, está, há, pode", "chama custa fica hora horas dia ano mede pesa",
		"janeiro, fevereiro, março, abril, maio, junho, julho, agosto, setembro, outubro, novembro, dezembro, segunda, terça, quarta, quinta, sexta, sábado, domingo, horas, meio-dia", "dois, duas, três, quatro, cinco, seis, sete, oito, nove, dez, onze, doze, vinte, trinta, cem, mil, milhão, milhões", "euro, euros, reais, cêntimos, grátis"},
	text.Dutch: {"wanneer, in welk jaar, hoe laat, welke dag, op welke dag", "hoeveel, hoe lang, hoe hoog, hoe oud, hoe ver, hoe diep, hoe zwaar, hoe groot, hoe vaak, welk nummer", "hoeveel kost, wat kost, wat kosten, hoe duur, prijs", "wie, wiens",
		"is, zijn, heeft, kan, mag, moet", "heet heten kost kosten duurt ligt lang hoog oud ver groot vaak laat jaar dag",
		"januari, februari, maart, april, mei, juni, juli, augustus, september, oktober, november, december, maandag, dinsdag, woensdag, donderdag, vrijdag, zaterdag, zondag, uur, middag", "twee, drie, vier, vijf, zes, zeven, acht, negen, tien, elf, twaalf, twintig, dertig, honderd, duizend, miljoen", "euro, cent, gratis"},
	text.Swedish: {"när, vilket år, vilken dag, hur dags, vilken tid, vilket datum", "hur många, hur mycket, hur lång, hur långt, hur länge, hur hög, hur gammal, hur djup, hur tung, hur stor, hur ofta, vilket nummer", "vad kostar, hur mycket kostar, pris", "vem, vems, vilka",
		"är, har, kan, får, finns", "heter kostar ligger tar lång länge hög gammal stor ofta år dag tid",
		"januari, februari, mars, april, maj, juni, juli, augusti, september, oktober, november, december, måndag, tisdag, onsdag, torsdag, fredag, lördag, söndag, klockan, måndagar, tisdagar, onsdagar, torsdagar, fredagar, lördagar, söndagar", "två, tre, fyra, fem, sex, sju, åtta, nio, tio, elva, tolv, tjugo, trettio, hundra, tusen, miljon, miljoner", "kronor, kr, öre, euro, gratis"},
	text.Norwegian: {"når, hvilket år, hvilken dag, hvilken tid, hvilken dato", "hvor mange, hvor mye, hvor lang, hvor langt, hvor lenge, hvor høy, hvor gammel, hvor dyp, hvor tung, hvor stor, hvor ofte, hvilket nummer", "hva koster, hvor mye koster, pris", "hvem, hvilke",
		"er, har, kan, får, finnes", "heter koster ligger tar lang lenge høy gammel stor ofte år dag tid",
		"januar, februar, mars, april, mai, juni, juli, august, september, oktober, november, desember, mandag, tirsdag, onsdag, torsdag, fredag, lørdag, søndag, klokken, mandager, tirsdager, onsdager, torsdager, fredager, lørdager, søndager", "to, tre, fire, fem, seks, sju, åtte, ni, ti, elleve, tolv, tjue, tretti, hundre, tusen, million, millioner", "kroner, kr, øre, euro, gratis"},
	text.Russian: {"когда, в каком году, в каком месяце, в какой день, во сколько, какого числа", "сколько, какой высоты, какой длины, какой номер, как долго, как часто", "сколько стоит, сколько стоят, цена, почём", "кто, кого, кому, кем, чей, чья",
		"есть, можно", "называется зовут стоит стоят находится году день время",
		"января, февраля, марта, апреля, мая, июня, июля, августа, сентября, октября, ноября, декабря, понедельник, вторник, среду, среда, четверг, пятницу, пятница, субботу, суббота, воскресенье, час, часа, часов, году, года, полдень", "два, две, три, четыре, пять, шесть, семь, восемь, девять, десять, одиннадцать, двенадцать, двадцать, тридцать, сорок, сто, тысяча, тысяч, миллион, миллионов", "рубль, рубля, рублей, бесплатно"},
	text.Japanese: {date: "いつ, 何時, 何年, 何月, 何曜日, 何日", number: "いくつ, 何人, 何個, 何本, 何枚, 何台, 何メートル, 何分, 何回, 何番, どのくらい, どれくらい", money: "いくら, 値段, 料金", name: "誰, だれ"},
}

// how is a wording made ready: phrases, stems of words, and the shapes of words.
type how struct {
	wording
	asking map[string]bool
	shapes map[string]shape
}

var hows = sync.OnceValue(func() map[text.Language]*how {
	out := make(map[text.Language]*how)
	for l, w := range wordings {
		h := &how{w, make(map[string]bool), make(map[string]shape)}
		a, err := text.New(text.Options{Language: l})
		if err != nil {
			panic(err) // a language of package text
		}
		for _, term := range a.Terms(w.asking) {
			h.asking[term] = true
		}
		for s, words := range map[shape]string{hasDate: w.dates, hasNumber: w.numbers, hasMoney: w.coins} {
			for word := range strings.SplitSeq(words, ", ") {
				h.shapes[word] |= s
			}
		}
		out[l] = h
	}
	return out
})

// has reports whether a question, folded, has one of the phrases: whole words where the
// language parts them.
func (h *how) has(question, phrases string) bool {
	for p := range strings.SplitSeq(phrases, ", ") {
		if p != "" && (strings.Contains(question, " "+p+" ") || strings.ContainsFunc(p, text.Unspaced) && strings.Contains(question, p)) {
			return true
		}
	}
	return false
}

// wanted is [wanted] in the language.
func (h *how) wanted(question string) (s shape) {
	q := folded(question)
	if h.has(q, h.date) {
		s |= hasDate
	}
	if h.has(q, h.money) {
		s |= hasMoney
	} else if h.has(q, h.number) {
		s |= hasNumber
	}
	if h.has(q, h.name) {
		s |= hasName
	}
	return s
}

// folded are the words of a question in lower case, with a blank before and behind each.
func folded(question string) string {
	return " " + strings.ToLower(strings.Join(strings.FieldsFunc(question, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}), " ")) + " "
}

// begins reports whether a question begins with one of the words.
func (h *how) begins(question, words string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(folded(question)), " ")
	return h.has(" "+first+" ", words)
}

// spoken is the language that evidence is read in: the question's, or that of the evidence if
// the question does not tell.
func spoken(question string, evidence []graphrag.Hit) text.Language {
	if l := text.LanguageOf(question); l != "" {
		return l
	}
	texts := make([]string, len(evidence))
	for i, h := range evidence {
		texts[i] = h.Chunk.Text
	}
	return text.Main(texts)
}
