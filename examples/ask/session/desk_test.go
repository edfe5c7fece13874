// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/ask/session/sessiontest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

func TestReply(t *testing.T) {
	d := sessiontest.Open(t, "wild")
	r, err := d.Ask(t.Context(), session.Query{Question: "What does the barn owl hear?"})
	check.Must(t, err == nil && !r.Refused && len(r.Sources) == 1, "%+v, %v", r, err)
	check.Equal(t, r.Sources[0].Place, "5")
	check.True(t, strings.HasSuffix(r.Sources[0].Before, "Some text.\n\n"), "before it stands %q", r.Sources[0].Before)
	check.True(t, r.Confidence >= .5 && len(r.Passages) > 0, "%+v", r)
	_, err = d.Neighbours(t.Context(), "Ada Lovelace", 5, nil)
	check.True(t, errors.Is(err, session.ErrNoGraph) && strings.Contains(err.Error(), "-system"), "without a graph: %v", err)
	found, err := d.Search(t.Context(), "mouse snow", 1, nil)
	check.True(t, err == nil && len(found) == 1 && strings.HasSuffix(found[0].Path, "owl.md"), "%+v, %v", found, err)
}

func TestNeighbours(t *testing.T) {
	d := sessiontest.Open(t, "hipporag2")
	n, err := d.Neighbours(t.Context(), "ada lovelace", 1, nil)
	check.Must(t, err == nil && len(n.Facts) == 1 && n.More > 0, "%+v, %v", n, err)
	check.Equal(t, n.Names, []string{"Ada Lovelace"})
	check.True(t, n.Facts[0].Place == "1" && strings.HasSuffix(n.Facts[0].Path, "ada.md"), "%+v", n.Facts[0])
	_, err = d.Neighbours(t.Context(), "lovel", 5, nil)
	check.True(t, errors.Is(err, session.ErrUnknown) && strings.Contains(err.Error(), "there are Ada Lovelace"), "part of a name: %v", err)
	n, err = d.Around(t.Context(), session.Query{Question: "What did Charles Babbage design, and who is Nobody Known?"}, 9)
	check.True(t, err == nil && len(n.Names) != 0 && n.Names[0] == "Charles Babbage" && len(n.Facts) != 0, "%+v, %v", n, err)
}

// A question, a search, facts and a graph are limited to the files that meet a condition, and
// the session's own is within each.
func TestWhere(t *testing.T) {
	d := sessiontest.Open(t, "wild")
	c := check.Of(graphrag.ParseCondition(`kind = "csv"`)).OK(t)
	r, err := d.Ask(t.Context(), session.Query{Question: "What does the barn owl hear in the light?", Where: &c})
	check.True(t, err == nil && r.Refused && len(r.Passages) != 0 && !strings.Contains(fmt.Sprint(r), "owl.md"), "%+v, %v", r, err)
	found, err := d.Search(t.Context(), "owl light", 5, &c)
	check.True(t, err == nil && len(found) != 0 && !strings.Contains(fmt.Sprint(found), "owl.md"), "%+v, %v", found, err)
	d = sessiontest.Open(t, "hipporag2")
	check.Is(t, check.Err(d.Neighbours(t.Context(), "Ada Lovelace", 5, &c)), session.ErrUnknown, "a name of another file")
	n, err := d.Around(t.Context(), session.Query{Question: "Ada Lovelace", Where: &c}, 9)
	check.True(t, err == nil && len(n.Facts) == 0, "%+v, %v", n, err)
	var page strings.Builder
	err = d.WriteGraph(t.Context(), &page, session.Query{Question: "What does the red light mean?", Where: &c})
	check.True(t, err == nil && !strings.Contains(page.String(), "Lovelace"), "a page with names of other files: %v", err)
}
