// SPDX-License-Identifier: Apache-2.0

package text

// The stop words: articles, pronouns, prepositions, conjunctions, auxiliaries
// and question words, which say little about what a text is about. Contractions
// appear as the pieces the apostrophe leaves ("don t", "l homme").
const (
	englishStop = `
a an the this that these those such
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves one
and or but nor if then than so as because while until though although whether
of at by for with about against between into through during before after above below to from up down in out on off over under
again further once here there
what which who whom whose when where why how
all any both each few more most other some no not only own same too very just also
am is are was were be been being have has had having do does did doing done
can could may might must shall should will would ought
s t d ll m re ve don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn ain`

	frenchStop = `
le la les l un une des du de d au aux ce cet cette ces
je j me m moi tu te t toi il elle on nous vous ils elles se s soi lui leur eux y en
mon ma mes ton ta tes son sa ses notre nos votre vos leurs
qui que qu quoi dont où quel quelle quels quelles lequel laquelle comment quand pourquoi combien
et ou mais ni or car donc si comme puis
à dans par pour sur avec sans sous entre vers chez depuis pendant avant après contre
ne n pas plus aussi très même mêmes tout toute tous toutes autre autres c ça cela ceci
être est suis es sommes êtes sont était étaient été étant sera seront serait fut furent soit
avoir ai as a avons avez ont avait avaient eu ayant aura auront aurait eut
fait faire peut peuvent doit`

	spanishStop = `
el la los las lo un una unos unas al del
yo me mí tú te ti él ella ello nosotros nosotras vosotros ellos ellas se sí nos os le les usted ustedes
mi mis tu tus su sus nuestro nuestra nuestros nuestras
este esta esto estos estas ese esa eso esos esas aquel aquella
que qué quien quién quienes cual cuál cuales cuáles cuando cuándo donde dónde como cómo cuanto cuánto porque
y e o u ni pero sino si no también más muy ya
a ante bajo con contra de desde durante en entre hacia hasta para por según sin sobre tras
ser es soy eres somos son era eran fue fueron sido siendo será sería sea
estar está están estaba estado haber ha he has han había habían hay hubo
todo toda todos todas otro otra otros otras mismo misma tanto`

	russianStop = `
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было вот от меня
о из ему при когда даже ну ли если уже или ни быть был была были него до вас нибудь вам ведь там себя ей они тут где
есть надо ней для мы тебя их чем сам чтоб чтобы без будто чего раз тоже себе под будет тогда кто этот того потому этого
какой какая какие ним этом один мой тем нее неё сейчас куда зачем всех можно над об обо эту эти это эта этой
также который которая которое которые которых которой которого между через про`

	swedishStop = `
en ett den det de dem denna detta dessa
jag mig min mitt mina du dig din ditt dina han honom hans hon henne hennes vi oss vår vårt våra ni er ert era sig sin sitt sina man deras dess
och eller men att som om när där här då än så för av på i till från med utan under över vid mot mellan genom efter före hos åt ur in upp ut
vad vem vilken vilket vilka varför hur var vars
är var vara varit blir blev bli blivit har hade ha haft kan kunde ska skall skulle vill ville måste
inte ej icke också bara mycket alla allt all någon något några ingen inget inga samma annan andra själv nu sedan`

	norwegianStop = `
en ei et den det de dem denne dette disse
jeg meg min mitt mine du deg din ditt dine han ham hans hun henne hennes vi oss vår vårt våre dere deres seg sin sitt sine man dets
og eller men at som om når der her da enn så for av på i til fra med uten under over ved mot mellom gjennom etter før hos ut opp inn
hva hvem hvilken hvilket hvilke hvorfor hvordan hvor
er var være vært blir ble bli blitt har hadde ha hatt kan kunne skal skulle vil ville må måtte
ikke ikkje også bare mye alle alt all noen noe ingen intet samme annen andre selv nå siden å eg ein eit`
)
