// SPDX-License-Identifier: Apache-2.0

package e2graphrag_test

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/e2graphrag"
)

func TestBadOptions(t *testing.T) {
	_, err := e2graphrag.New(baselinestest.OfflineKit(t), e2graphrag.Options{Group: 1, Summary: -1, Path: 5, Chunks: -1})
	for _, want := range []string{"Group is 1", "Summary is -1", "Path is 5", "Chunks is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
