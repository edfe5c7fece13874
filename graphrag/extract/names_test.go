// SPDX-License-Identifier: Apache-2.0

package extract_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/extracttest"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
)

func TestByNames(t *testing.T) {
	dir := t.TempDir()
	texttest.OK(t, embedtest.WriteHead(dir, "BertForTokenClassification", "O", "B-PER", "I-PER"))
	names, err := local.OpenNames(dir, local.Options{})
	texttest.OK(t, err)
	extracttest.Test(t, extract.ByNames(names))
}
