// SPDX-License-Identifier: Apache-2.0

package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/load/pdf"
	"github.com/wildgraph/wildgraph/internal/check"
)

// drawn is a page that draws rows from top to bottom, their cells with a distance, the k-th lower by k times drop.
func drawn(distance, drop float64, rows ...string) string {
	var b strings.Builder
	for i, row := range rows {
		for k, cell := range strings.Split(row, "|") {
			if cell != "" {
				fmt.Fprintf(&b, "BT /F 10 Tf %g %g Td (%s) Tj ET\n", 40+distance*float64(k), 700-12*float64(i)-drop*float64(k), cell)
			}
		}
	}
	return b.String()
}

// Many files draw columns from top to bottom across the page. Tables are read row by row.
func TestColumns(t *testing.T) {
	pier := []string{
		"The pier of Quennock was built|The mole of Dunmere was built", "in 1871 by the first keeper of|in 1904 by the mayor, and the",
		"the lighthouse, Mara Finch. It|harbour has had a crane since", "is 210 metres long and has two|then. It is 90 metres long, or",
		"cranes.|", "|so they say.",
	}
	left := "The pier of Quennock was built\nin 1871 by the first keeper of\nthe lighthouse, Mara Finch. It\nis 210 metres long and has two\ncranes.\n"
	right := "The mole of Dunmere was built\nin 1904 by the mayor, and the\nharbour has had a crane since\nthen. It is 90 metres long, or\nso they say.\n"
	title, last := "Harbours of the northern coast and of their keepers, as they were in the year 1910", "The figures are those of the office of the harbours in the capital of the province."
	byRow := strings.ReplaceAll(strings.Join(pier[:4], "\n"), "|", " ") + "\ncranes.\n"
	third := "A ferry crosses the bay of Ash\n"
	r := pdf.New(pdf.Options{Slow: true})
	defer r.Close()
	for name, tt := range map[string]struct{ page, want string }{
		"by row":       {drawn(200, 0, pier...), left + right},
		"by column":    {drawn(200, 0, strings.Split(left+strings.ReplaceAll("\n"+right, "\n", "\n|"), "\n")...), left + right},
		"higher":       {drawn(200, -4, pier...), left + right},
		"title":        {drawn(200, 0, append(append([]string{title}, pier...), last)...), title + "\n" + left + right + last + "\n"},
		"first alone":  {drawn(200, 0, append([]string{"The keepers"}, pier[:4]...)...), "The keepers\n" + strings.TrimSuffix(left, "cranes.\n") + strings.TrimSuffix(right, "so they say.\n")},
		"ends alone":   {drawn(200, 0, append(pier[:5:5], "", "The keepers")...), left + strings.TrimSuffix(right, "so they say.\n") + "The keepers\n"},
		"paragraphs":   {drawn(200, 0, append(append(pier[:2:2], ""), pier[2:]...)...), left + right},
		"short":        {drawn(200, 0, pier[:3]...), strings.ReplaceAll(strings.Join(pier[:3], "\n"), "|", " ") + "\n"},
		"spaced lines": {drawn(200, 0, strings.Split(strings.Join(pier[:5], "\n\n\n"), "\n")...), byRow},
		"three": {drawn(190, 0, pier[0]+"|A ferry crosses the bay of Ash", pier[1]+"|every day but on Sundays, when", pier[2]+"|the pilots rest. It takes cars", pier[3]+"|and carts, if there is any room", pier[4]), left +
			strings.TrimSuffix(right, "so they say.\n") + third + "every day but on Sundays, when\nthe pilots rest. It takes cars\nand carts, if there is any room\n"},
		"hyphen": {drawn(200, 0, "The pier of Quennock was made|The mole of Dunmere was in-", "of timber by the first light-|spected in 1904 by the mayor,", "house keeper, who was an engi-|who has ordered a new crane of", "neer of the port for ten years|the Jean-Paul works, as harbour"),
			"The pier of Quennock was made\nof timber by the first lighthouse keeper, who was an engineer of the port for ten years\nThe mole of Dunmere was inspected in 1904 by the mayor,\nwho has ordered a new crane of\nthe Jean-Paul works, as harbour\n"},
		"table": {drawn(200, 0, "The pier was built by the first|It is 210 metres long and has", "keeper of the old lighthouse.|two cranes and a shed of wood.", "The mole was built by the great|It is 90 metres long and has", "mayor of the town in 1904.|one crane but no shed of wood.", "The quay was built by a company|It is 400 metres long and has", "of merchants from the capital.|no crane but a shed of wood."),
			"The pier was built by the first It is 210 metres long and has\nkeeper of the old lighthouse. two cranes and a shed of wood.\nThe mole was built by the great It is 90 metres long and has\n" +
				"mayor of the town in 1904. one crane but no shed of wood.\nThe quay was built by a company It is 400 metres long and has\nof merchants from the capital. no crane but a shed of wood.\n"},
		"short ends": {drawn(200, 0, "The pier was built by the first|It is 210 metres long and has", "keeper of the light|two cranes and a shed", "The mole was built by the great|It is 90 metres long and has", "mayor of the old town|one crane and a gate"),
			"The pier was built by the first It is 210 metres long and has\nkeeper of the light two cranes and a shed\nThe mole was built by the great It is 90 metres long and has\nmayor of the old town one crane and a gate\n"},
		"glossary": {drawn(200, 0, "a berth|where ships lie at the quay", "a crane|machine that lifts the goods", "a mole|wall of stone against waves", "a quay|wall where ships are loaded", "a tug|small ship that draws others"),
			"a berth where ships lie at the quay\na crane machine that lifts the goods\na mole wall of stone against waves\na quay wall where ships are loaded\na tug small ship that draws others\n"},
		"names": {drawn(200, 0, "Mara Finch of the first pier|keeper of the lighthouse there", "Jon Wells of the great mole|mayor of the town of Dunmere", "Tom Arden of the third quay|pilot of the harbour of Ash", "Ann Reed of the new dock|captain of the ferry to Ash"),
			"Mara Finch of the first pier keeper of the lighthouse there\nJon Wells of the great mole mayor of the town of Dunmere\nTom Arden of the third quay pilot of the harbour of Ash\nAnn Reed of the new dock captain of the ferry to Ash\n"},
		"contents": {drawn(300, 0, "The pier of Quennock and its cranes|12", "the mole of Dunmere and its crane|14", "the quay of the town, and its pilots|17", "ferries across the bay of Ash|21", "a list of the keepers|30"),
			"The pier of Quennock and its cranes 12\nthe mole of Dunmere and its crane 14\nthe quay of the town, and its pilots 17\nferries across the bay of Ash 21\na list of the keepers 30\n"},
	} {
		f, err := r.Read("a.pdf", file("", tt.page))
		check.OK(t, err)
		check.Equal(t, f.Document.Text, tt.want, name)
	}
}
