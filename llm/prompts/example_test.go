// SPDX-License-Identifier: Apache-2.0

package prompts_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/llm/prompts"
)

// The text of a page stands between marks that it cannot close.
func ExampleSet_Request() {
	set := prompts.Must("demo", fstest.MapFS{
		"prompts/names.txt":      {Data: []byte("List the names in the text between the marks.")},
		"prompts/names_user.txt": {Data: []byte("{{.Data}}")},
	})
	request, err := set.Request(context.Background(), "extract", "names", nil, prompts.Data{Label: "page", Text: "Colin Archer built the Fram."})
	fmt.Println(request.Messages[0].Text, err)
	fmt.Println(request.Messages[1].Text)
	// Output:
	// List the names in the text between the marks. <nil>
	// [25f9e7afc4508661 page]
	// Colin Archer built the Fram.
	// [/25f9e7afc4508661 page]
}
