// SPDX-License-Identifier: Apache-2.0

package storetest

import "testing"

// Test runs the suite.
func Test(t *testing.T, f Factory) {
	for _, x := range []struct {
		name string
		test func(*testing.T, *suite)
	}{
		{"records", testRecords},
		{"bad items", testBadItems},
		{"scopes", testScopes},
		{"iterator", testIterator},
		{"model", testModel},
		{"words", testWords},
		{"vectors", testVectors},
		{"filters", testFilters},
		{"bad queries", testBadQueries},
		{"triples", testTriples},
		{"neighbors", testNeighbors},
		{"schema", testSchema},
		{"generations", testGenerations},
		{"publishers", testPublishers},
		{"readers", testReaders},
		{"cancelled", testCancelled},
		{"snapshot", testSnapshot},
		{"crash", testCrash},
		{"throttled", testThrottled},
		{"chaos", testChaos},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := &suite{f: f, s: f.New(t)}
			t.Cleanup(func() {
				if err := s.s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			x.test(t, s)
		})
	}
}
