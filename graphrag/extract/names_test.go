// SPDX-License-Identifier: Apache-2.0

package extract_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/extracttest"
)

func TestByNames(t *testing.T) {
	dir := t.TempDir()
	if err := embedtest.WriteHead(dir, "BertForTokenClassification", "O", "B-PER", "I-PER"); err != nil {
		t.Fatal(err)
	}
	names, err := local.OpenNames(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	extracttest.Test(t, extract.ByNames(names))
}
