// SPDX-License-Identifier: Apache-2.0

package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Weights with 10 GB behind their tensors are refused by the sizes in their header, unread.
func TestTenGigabytes(t *testing.T) {
	dir := tiny(t)
	file := filepath.Join(dir, weightsFile)
	if err := os.Truncate(file, 10<<30); err != nil {
		t.Skip(err) // no sparse files
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("10 GB of weights: %v", err)
	}
}
