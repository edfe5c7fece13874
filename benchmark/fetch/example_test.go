// SPDX-License-Identifier: Apache-2.0

package fetch_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/benchmark/fetch"
)

func Example() {
	f, err := fetch.New(fetch.Options{Agent: "owl-benchmark/1.0 (me@example.org)"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = f.Page(context.Background(), "http://169.254.169.254/latest/meta-data/")
	var e *fetch.Error
	fmt.Println(errors.As(err, &e), e.Kind)
	// Output: true refused
}
