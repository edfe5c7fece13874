// SPDX-License-Identifier: Apache-2.0

package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// Weights with 10 GB behind their tensors are refused by the sizes in their header, unread.
func TestTenGigabytes(t *testing.T) {
	dir := tiny(t)
	file := filepath.Join(dir, weightsFile)
	if err := os.Truncate(file, 10<<30); err != nil {
		t.Skip(err) // no sparse files
	}
	check.Fails(t, check.Err(Open(dir, Options{})), file, "10 GB of weights")
}
