// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
)

// A row is a document with its columns as fields.
func TestRows(t *testing.T) {
	may := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, data string
		want       []graphrag.Document
	}{
		{"t.csv", "\ufeffSubject;text;opened;team;price;007\nPager;It beeps at night.;2024-05-01;ops;12.5;007\n;;;it;;\n", []graphrag.Document{
			{ID: "t.csv/1", Source: "t.csv/1", Title: "Pager", Text: "Subject: Pager\nopened: 2024-05-01\nteam: ops\nprice: 12.5\n007: 007\n\nIt beeps at night.\n",
				Fields: graphrag.Fields{"Subject": "Pager", "opened": may, "team": "ops", "price": 12.5, "007": 7.}},
			{ID: "t.csv/2", Source: "t.csv/2", Text: "team: it\n", Fields: graphrag.Fields{"team": "it"}},
		}},
		{"t.jsonl", `{"_id": "x", "name": "Pager", "body": "It beeps.", "opened": "2024-05-01", "open": true, "tags": ["a", 1, "b"], "of": {"k": 1}, "none": null, "n": 3}` + "\n\n" + `{"id": 7}`, []graphrag.Document{
			{ID: "x", Source: "t.jsonl/1", Title: "Pager", Text: "_id: x\nn: 3\nname: Pager\nof: {\"k\":1}\nopen: true\nopened: 2024-05-01\ntags: [\"a\",1,\"b\"]\n\nIt beeps.\n",
				Fields: graphrag.Fields{"_id": "x", "name": "Pager", "opened": may, "open": true, "tags": []string{"a", "b"}, "n": 3.}},
			{ID: "7", Source: "t.jsonl/2", Title: "7", Text: "id: 7\n", Fields: graphrag.Fields{"id": 7.}},
		}},
		{"empty.csv", "a,b\n", nil},
	} {
		got, err := load.Rows(tt.name, []byte(tt.data))
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", tt.name, diff, err)
		}
	}
}

// Records that are none are errors with their place; what is too long or too much is no field.
func TestRowsHostile(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"t.csv", "", "no header"},
		{"t.csv", "id\na\na\n", `t.csv: row 2 has the ID "a" of another row`},
		{"t.csv", strings.Repeat("a,", 70000) + "\n", "more than"},
		{"t.csv", strings.Repeat("a", 10000) + "\n" + strings.Repeat("x\n", 10000), "shorten them"},
		{"t.jsonl", "{}\n[1]\n", "line 2"},
		{"t.jsonl", `{"a": 1} {"b": 2}`, "line 1"},
		{"t.jsonl", strings.Repeat(`{"a":`, 20000), "line 1"},
	} {
		if _, err := load.Rows(tt.name, []byte(tt.data)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40q: %v, want %q", tt.data, err, tt.want)
		}
	}
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, `"k%d": 1, `, i)
	}
	docs, err := load.Rows("t.jsonl", []byte(`{`+many.String()+`"a": "`+strings.Repeat("x", 2000)+`"}`))
	if err != nil || len(docs) != 1 || len(docs[0].Fields) != graphrag.MaxFields || docs[0].Fields["a"] != nil || docs[0].Fields.Check() != nil {
		t.Errorf("%d documents, %v", len(docs), err)
	}
}
