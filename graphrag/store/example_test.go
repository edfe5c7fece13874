// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// A filter is data, so that every engine can map it.
func ExampleFilter() {
	pages := store.TableSchema{Text: true, Fields: map[string]store.Kind{"domain": store.String, "year": store.Number}}
	recent := store.And(store.Equal("domain", "culture"), store.Range("year", 2020, 2026))
	recent, err := pages.CheckFilter(recent)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(recent.Holds(store.Fields{"domain": "culture", "year": 2024}.Value), recent.Holds(store.Fields{"domain": "culture"}.Value))
	_, err = pages.CheckFilter(store.Equal("author", "nobody"))
	fmt.Println(err)
	// Output:
	// true false
	// filter: invalid: there is no field "author": declare it in the schema
}
