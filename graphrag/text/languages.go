// SPDX-License-Identifier: Apache-2.0

package text

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
)

// Language names the language whose stemmer and stop words are used.
type Language string

// The languages that are known, and None, which has neither stems nor stop words.
// Chinese and Japanese have pairs of characters instead of stems.
const (
	English    Language = "english"
	German     Language = "german"
	French     Language = "french"
	Spanish    Language = "spanish"
	Italian    Language = "italian"
	Portuguese Language = "portuguese"
	Dutch      Language = "dutch"
	Swedish    Language = "swedish"
	Norwegian  Language = "norwegian"
	Russian    Language = "russian"
	Chinese    Language = "chinese"
	Japanese   Language = "japanese"
	None       Language = "none"

	// Each stands for the language of each text.
	Each Language = "each"
)

// Languages returns the single languages a [Standard] analyzer can be built for.
func Languages() []Language {
	out := make([]Language, 0, len(lexicons)+1)
	for _, l := range lexicons {
		out = append(out, l.language)
	}
	return append(out, None)
}

// lexicon has the words of one language.
type lexicon struct {
	language Language
	stem     func(*snowballstem.Env) bool // nil: no stems
	// asks are the words that ask, stop the other stop words: articles, pronouns,
	// prepositions, conjunctions and auxiliaries, which say little about what a text is
	// about. Contractions appear as the pieces the apostrophe leaves ("don t", "l homme").
	asks, stop string
	// letters are those that few other languages write.
	letters string
	// short are abbreviations that stand before a name or a number, and so end no sentence, without
	// their last full stop. Those that often end one ("usw.", "etc.") are left out, and so are those
	// that are words too. One letter, and letters with full stops between them ("z.B."), count without
	// being named.
	short string
	// ordinals says that "3." stands before words in upper case.
	ordinals bool
}

func lexiconOf(of Language) (lexicon, bool) {
	for _, l := range lexicons {
		if l.language == of {
			return l, true
		}
	}
	return lexicon{}, of == None
}

func (l lexicon) stopWords() map[string]bool { return set(l.asks + " " + l.stop) }

// stemOf is the stem of a word. What is a stop word was decided before, so whatever comes
// is stemmed. Both spellings of ё are common, and stemmed as one.
func (l lexicon) stemOf(word string) string {
	if l.language == Russian {
		word = strings.ReplaceAll(word, "ё", "е")
	}
	env := snowballstem.NewEnv(word)
	l.stem(env)
	return env.Current()
}

var lexicons = []lexicon{
	{English, english.Stem, `what which who whom whose when where why how`, `
a an the this that these those such
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves one
and or but nor if then than so as because while until though although whether
of at by for with about against between into through during before after above below to from up down in out on off over under
again further once here there
all any both each few more most other some no not only own same too very just also
am is are was were be been being have has had having do does did doing done
can could may might must shall should will would ought
s t d ll m re ve don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn ain`, "", ``, false},

	{German, german.Stem, `wer wen wem wessen was wann wo wohin woher wie wieviel warum weshalb wieso welche welcher welches welchen welchem
womit wofür woran worauf woraus wozu wodurch worüber`, `
der die das den dem des ein eine einer eines einem einen kein keine keiner keinen keinem dieser diese dieses diesen diesem jener jene
ich mich mir mein meine meinen meiner du dich dir dein deine er ihn ihm sein seine seinen seiner seinem seines
sie ihr ihre ihren ihrer ihrem ihres es wir uns unser unsere unseren euch euer man sich selbst
und oder aber denn sondern wenn als ob dass weil damit also doch nur noch schon auch nicht nie sehr mehr so da dann hier dort
in im ins an am ans auf aus bei beim mit nach von vom vor zu zum zur über unter durch für gegen ohne um bis seit während wegen zwischen hinter neben
bin ist sind war waren wird werden wurde wurden worden geworden sei seien wäre haben hat hatte hatten habe gehabt
kann können konnte konnten muss müssen musste soll sollen sollte will wollen wollte darf dürfen mag möchte
alle aller alles allem allen jede jeder jedes jedem jeden einige etwas viel viele wenn nun zwar etwa`, "äöüß", `
dr prof dipl ing fa hr hrn fr frl nr bd bde abb tab kap abs anm aufl hg hrsg jh jhd jg ca bzw vgl sog geb gest verh str evtl ggf
inkl exkl mio mrd tel st ev kath röm griech lat dt engl frz österr ehem insb allg urspr bes lt gem zit`, true},

	{French, french.Stem, `qui que qu quoi dont où quel quelle quels quelles lequel laquelle comment quand pourquoi combien`, `
le la les l un une des du de d au aux ce cet cette ces
je j me m moi tu te t toi il elle on nous vous ils elles se s soi lui leur eux y en
mon ma mes ton ta tes son sa ses notre nos votre vos leurs
et ou mais ni or car donc si comme puis
à dans par pour sur avec sans sous entre vers chez depuis pendant avant après contre
ne n pas plus aussi très même mêmes tout toute tous toutes autre autres c ça cela ceci est
être suis es sommes êtes sont était étaient été étant sera seront serait fut furent soit
avoir ai as a avons avez ont avait avaient eu ayant aura auront aurait eut
fait faire peut peuvent doit`, "éèêçàùœîûôë", `
mm mme mmes mlle mlles me mgr dr pr prof st ste av bd boul chap fig vol éd éds trad pp no nos env cf vs j.-c hab coll rév op
ibid`, false},

	{Spanish, spanish.Stem, `qué quién quiénes cuál cuáles cuándo dónde cómo cuánto cuántos cuánta cuántas`, `
el la los lo las un uno una unos unas al del
yo me mí tú te ti él ella ello nosotros nosotras vosotros ellos ellas se sí nos os le les usted ustedes
mi mis tu tus su sus nuestro nuestra nuestros nuestras
este esta esto estos estas ese esa eso esos esas aquel aquella
que quien quienes cual cuales cuando donde como cuanto porque
y e o u ni pero sino si no también más muy ya
a ante bajo con contra de desde durante en entre hacia hasta para por según sin sobre tras
ser es soy eres somos son era eran fue fueron sido siendo será sería sea
estar está están estaba estado haber ha he has han había habían hay hubo
todo toda todos todas otro otra otros otras mismo misma tanto`, "ñ¿¡áíóú", `
sr sra srta sres dr dra dña prof ing lic arq gral tte cnel av avda pág págs núm vol cap fig ed eds aprox máx mín tel ud uds vd
vds ee sto sta pdte dpto`, false},

	{Italian, italian.Stem, `chi che cosa quale quali quando dove come perché quanto quanta quanti quante`, `
il lo la i gli le l un uno una del dello della dei degli delle dell al allo alla ai agli alle all dal dallo dalla dai dagli dalle dall
nel nello nella nei negli nelle nell sul sullo sulla sui sugli sulle sull col
io mi me tu ti te lui lei noi ci vi voi loro si sé ne egli ella essi esse
mio mia miei mie tuo tua suo sua suoi sue nostro nostra vostro
questo questa questi queste quello quella quelli quelle quel cui
e ed o oppure ma né se anche non più molto già poi ogni solo così
a ad con contro da di in per su tra fra senza sotto sopra verso dopo prima durante fino
essere è sono era erano fu furono stato stata stati state sia sarà siamo
avere ha ho hanno aveva avevano ebbe abbiamo viene vengono può possono deve devono
tutto tutta tutti tutte altro altra altri altre stesso stessa c d dov cos quest quell`, "èòìù", `
sig sigg sig.ra sig.na dott dott.ssa dr prof prof.ssa ing avv arch geom rag on mons pag pagg fig vol cap ed trad tel ca es sec
ss nr`, false},

	{Portuguese, portuguese.Stem, `quem que qual quais quando onde como porquê quanto quanta quantos quantas`, `
o a os as um uma uns umas ao aos à às do da dos das no na nos nas num numa pelo pela pelos pelas dum duma
eu me mim tu te ti ele ela eles elas nós vós se si lhe lhes você vocês
meu minha meus minhas teu tua seu sua seus suas nosso nossa nossos nossas
este esta isto estes estas esse essa isso esses essas aquele aquela aquilo
e ou nem mas se não também mais muito já porque pois só ainda cada
a ante com contra de desde durante em entre até para por sem sob sobre após
ser é sou és somos são era eram foi foram sido sendo será seria seja
estar está estão estava estavam ter tem têm tinha tinham teve há havia pode podem deve devem
todo toda todos todas outro outra outros outras mesmo mesma`, "ãõçâêó", `
sr sra srs sras srta dr dra prof profa eng arq exmo exma av pç pça pág págs núm vol cap ed eds fig aprox máx mín tel séc ex`, false},

	{Dutch, dutch.Stem, `wie wiens wat welke welk wanneer waar waarom hoe hoeveel waarheen waarmee`, `
de het een die dat deze dit
ik mij me mijn jij je jou jouw u uw hij hem zijn zij ze haar wij we ons onze jullie hun hen zich men
en of maar want als dan dus omdat terwijl zodat ook niet geen nog al wel zeer meer er hier daar toen nu
in op aan uit bij met naar van voor na te tot tegen over onder door om zonder tussen sinds tijdens vanaf
ben is zijn was waren word wordt worden werd werden geworden geweest
heb heeft hebben had hadden gehad kan kunnen kon konden moet moeten moest mag mogen zal zullen zou zouden wil willen
alle alles elk elke ieder iedere iets veel vele andere ander zelf zo`, "ĳ", `
dhr mevr mw mr mrs dr drs ir ing prof ds st jhr nr nrs blz pag afb fig dl hfst ed red vert ca incl excl bijv bv resp evt tel`, false},

	{Swedish, swedish.Stem, `vad vem vems vilken vilket vilka varför hur var vart när`, `
en ett den det de dem denna detta dessa
jag mig min mitt mina du dig din ditt dina han honom hans hon henne hennes vi oss vår vårt våra ni er ert era sig sin sitt sina man deras dess
och eller men att som om här där då än så för av på i till från med utan under över vid mot mellan genom efter före hos åt ur in upp ut
vars
är vara varit blir blev bli blivit har hade ha haft kan kunde ska skall skulle vill ville måste
inte ej icke också bara mycket alla allt all någon något några ingen inget inga samma annan andra själv nu sedan`, "åäö", `
hr fr frk dr prof doc ing nr sid kap fig tab bd ca resp ev inkl exkl kl st tel dvs jfr`, false},

	{Norwegian, norwegian.Stem, `hva hvem hvilken hvilket hvilke hvorfor hvordan hvor når`, `
en ei et den det de dem denne dette disse
jeg meg min mitt mine du deg din ditt dine han ham hans hun henne hennes vi oss vår vårt våre dere deres seg sin sitt sine man dets
og eller men at som om der her da enn så for av på i til fra med uten under over ved mot mellom gjennom etter før hos ut opp inn
er var være vært blir ble bli blitt har hadde ha hatt kan kunne skal skulle vil ville må måtte
ikke ikkje også bare mye alle alt all noen noe ingen intet samme annen andre selv nå siden å eg ein eit`, "åøæ", `
hr fr frk dr prof nr kap fig tab bd ca kl resp ev inkl ekskl dvs f.eks st tlf jf jfr mill mrd ing adv`, false},

	{Russian, russian.Stem, `кто кого кому кем что чего чем когда где куда откуда как какой какая какое какие каком каких сколько почему зачем чей чья чьё`, `
и в во не он на я с со а то все она так его но да ты к у же вы за бы по только ее её мне было вот от меня
о из ему при даже ну ли если уже или ни быть был была были него до вас нибудь вам ведь там себя ей они тут
есть надо ней для мы тебя их сам чтоб чтобы без будто раз тоже себе под будет тогда этот того потому этого
ним этом один мой тем нее неё сейчас всех можно над об обо эту эти это эта этой
также который которая которое которые которых которой которого между через про`, "", `
гг вв тт ул пер пл просп наб кв корп стр гл рис табл см ср напр им св проф акад доц д-р г-н г-жа тов инж ген полк тыс млн млрд
руб коп кн изд ред`, false},

	{language: Chinese},
	{language: Japanese},
}
