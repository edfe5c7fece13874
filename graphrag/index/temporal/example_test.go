// SPDX-License-Identifier: Apache-2.0

package temporal_test

import (
	"fmt"
	"log/slog"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/index/temporal"
)

// A worker for a server that is not running yet, and the job's name on the server's pages.
func Example() {
	c, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:7233", Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	o := temporal.Options{Queue: "ships", Shares: 64, Slots: 2}
	w, err := temporal.NewWorker(c, (*index.Index)(nil), o)
	fmt.Println(w != nil, err)
	fmt.Println(temporal.ID("logs", o))
	// Output:
	// true <nil>
	// ships-logs
}
