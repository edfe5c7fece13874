// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/internal/engine"
)

// Limits of a request; OpenSearch takes 100 MB.
const (
	maxItems = 1000
	maxBytes = 8 << 20
)

// bulk is lines of a request.
type bulk struct {
	lines bytes.Buffer
	items int
}

// add appends an item: what is done to it, and the document.
func (b *bulk) add(action, id string, doc object) error {
	e := json.NewEncoder(&b.lines)
	err := e.Encode(object{action: object{"_id": id}})
	if err == nil && doc != nil {
		err = e.Encode(doc)
	}
	b.items++
	return err
}

// Put implements [engine.Engine].
func (c *cluster) Put(ctx context.Context, index string, docs []engine.Doc) error {
	var b bulk
	for i, d := range docs {
		doc := object{"id": d.ID, "body": string(d.Body)}
		if len(d.Terms) > 0 {
			doc["words"], doc["length"] = strings.Join(d.Terms, " "), len(d.Terms)
		}
		if len(d.Vector) > 0 {
			doc["vector"] = d.Vector
		}
		for name, v := range d.Fields {
			doc[name] = v
		}
		if err := b.add("index", engine.Hash(d.ID), doc); err != nil {
			return err
		}
		if err := c.send(ctx, index, &b, i == len(docs)-1); err != nil {
			return err
		}
	}
	return nil
}

// Delete implements [engine.Engine].
func (c *cluster) Delete(ctx context.Context, index string, ids []string) error {
	var b bulk
	for i, id := range ids {
		if err := b.add("delete", engine.Hash(id), nil); err != nil {
			return err
		}
		if err := c.send(ctx, index, &b, i == len(ids)-1); err != nil {
			return err
		}
	}
	return nil
}

// shardWait is how long a server waits for a shard that is away; a minute if it is not told.
const shardWait = "10s"

// send sends what is enough for a request, or the last. All of it is sent again if a part
// was rejected: it says what is to be, not what is to be changed.
func (c *cluster) send(ctx context.Context, index string, b *bulk, last bool) error {
	if b.items < maxItems && b.lines.Len() < maxBytes && !last {
		return nil
	}
	request := engine.Request{Method: http.MethodPost, Path: "/" + c.index(index) + "/_bulk?require_alias=true&timeout=" + shardWait, Body: b.lines.Bytes(), Type: "application/x-ndjson"}
	err := c.client.Again(ctx, false, func() error {
		var answer struct {
			Errors bool `json:"errors"`
			Items  []map[string]struct {
				Status int    `json:"status"`
				Error  *cause `json:"error"`
			} `json:"items"`
		}
		if err := c.client.Once(ctx, request, &answer); err != nil {
			return err
		}
		if len(answer.Items) != b.items {
			return fmt.Errorf("%w: an answer of %d items to a batch of %d", store.ErrUnavailable, len(answer.Items), b.items)
		}
		for _, item := range answer.Items {
			for _, result := range item {
				if err := result.Error.error(result.Status); err != nil {
					return err
				}
			}
		}
		return nil
	})
	b.lines.Reset()
	b.items = 0
	return err
}

// DeleteWhere implements [engine.Engine].
func (c *cluster) DeleteWhere(ctx context.Context, index, field, value string) error {
	if err := c.Refresh(ctx, index); err != nil {
		return err
	}
	var answer struct {
		Failures []struct {
			Status int    `json:"status"`
			Cause  *cause `json:"cause"`
		} `json:"failures"`
	}
	return c.client.Again(ctx, false, func() error {
		err := c.client.Once(ctx, engine.Request{Method: http.MethodPost, Path: "/" + c.index(index) + "/_delete_by_query?conflicts=proceed",
			Body: object{"query": object{"term": object{field: value}}}}, &answer)
		for _, f := range answer.Failures {
			if err == nil {
				err = f.Cause.error(f.Status)
			}
		}
		return err
	})
}

// Refresh implements [engine.Engine].
func (c *cluster) Refresh(ctx context.Context, indexes ...string) error {
	names := make([]string, len(indexes))
	for i, index := range indexes {
		names[i] = c.index(index)
	}
	return c.client.Again(ctx, false, func() error {
		var answer struct {
			Shards struct {
				Failed int `json:"failed"`
			} `json:"_shards"`
		}
		err := c.client.Once(ctx, engine.Request{Method: http.MethodPost, Path: "/" + strings.Join(names, ",") + "/_refresh"}, &answer)
		if err == nil && answer.Shards.Failed > 0 {
			err = fmt.Errorf("%w: %d shards were not refreshed", store.ErrUnavailable, answer.Shards.Failed)
		}
		return err
	})
}
