// SPDX-License-Identifier: Apache-2.0

package desk

import "testing"

// A question that comes while another one reads new files does not wait for them.
func TestRefreshBusy(t *testing.T) {
	var d Desk
	d.mu.Lock()
	if c, err := d.Refresh(t.Context()); err != nil || c.Added != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}
