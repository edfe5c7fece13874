// SPDX-License-Identifier: Apache-2.0

package weaviate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/internal/engine"
)

// Limits of a request.
const (
	maxItems = 1000
	maxBytes = 8 << 20
)

// uuid is the id of a document there.
func uuid(id string) string {
	h := engine.Hash(id)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// Put implements [engine.Engine].
func (c *cluster) Put(ctx context.Context, index string, docs []engine.Doc) error {
	// A server makes a class of what it gets for one that is not there.
	if err := c.exists(ctx, index); err != nil {
		return err
	}
	var batch []json.RawMessage
	bytes := 0
	for i, d := range docs {
		properties := object{"oid": d.ID, "body": string(d.Body)}
		if len(d.Terms) > 0 {
			properties["words"] = strings.Join(d.Terms, " ")
		}
		for name, v := range d.Fields {
			properties[name] = v
		}
		one := object{"class": c.class(index), "id": uuid(d.ID), "properties": properties}
		if len(d.Vector) > 0 {
			one["vector"] = d.Vector
			properties["vectors"] = 1
		}
		data, err := json.Marshal(one)
		if err != nil {
			return err
		}
		batch = append(batch, data)
		if bytes += len(data); len(batch) == maxItems || bytes >= maxBytes || i == len(docs)-1 {
			if err := c.send(ctx, batch); err != nil {
				return err
			}
			batch, bytes = nil, 0
		}
	}
	return nil
}

func (c *cluster) exists(ctx context.Context, index string) error {
	return c.rest(ctx, http.MethodGet, "/schema/"+c.class(index), nil, nil)
}

// send writes objects to all replicas; again, all of them, while it may help.
func (c *cluster) send(ctx context.Context, batch []json.RawMessage) error {
	body, err := json.Marshal(object{"objects": batch})
	if err != nil {
		return err
	}
	return c.client.Again(ctx, false, func() error {
		var answer []struct {
			Result struct {
				Errors *struct {
					Error []message `json:"error"`
				} `json:"errors"`
			} `json:"result"`
		}
		if err := c.client.Once(ctx, engine.Request{Method: http.MethodPost, Path: "/v1/batch/objects?consistency_level=ALL", Body: body}, &answer); err != nil {
			return err
		}
		if len(answer) != len(batch) {
			return fmt.Errorf("%w: an answer of %d items to a batch of %d", store.ErrUnavailable, len(answer), len(batch))
		}
		for _, item := range answer {
			if e := item.Result.Errors; e != nil && len(e.Error) > 0 {
				return e.Error[0].error(store.ErrUnavailable)
			}
		}
		return nil
	})
}

// Delete implements [engine.Engine].
func (c *cluster) Delete(ctx context.Context, index string, ids []string) error {
	for part := range slices.Chunk(ids, maxItems) {
		if err := c.deleteWhere(ctx, index, object{"path": []string{"id"}, "operator": "ContainsAny", "valueTextArray": uuids(part)}); err != nil {
			return err
		}
	}
	return nil
}

func uuids(ids []string) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = uuid(id)
	}
	return list
}

// DeleteWhere implements [engine.Engine].
func (c *cluster) DeleteWhere(ctx context.Context, index, field, value string) error {
	return c.deleteWhere(ctx, index, object{"path": []string{field}, "operator": "Equal", "valueText": value})
}

// deleteWhere deletes as many at once as the server lets, until none is left.
func (c *cluster) deleteWhere(ctx context.Context, index string, where object) error {
	for {
		var answer struct {
			Results struct {
				Matches int `json:"matches"`
				Failed  int `json:"failed"`
				Done    int `json:"successful"`
			} `json:"results"`
		}
		err := c.client.Again(ctx, false, func() error {
			err := c.client.Once(ctx, engine.Request{Method: http.MethodDelete, Path: "/v1/batch/objects?consistency_level=ALL",
				Body: object{"match": object{"class": c.class(index), "where": where}, "output": "minimal"}}, &answer)
			if r := answer.Results; err == nil && (r.Failed > 0 || r.Matches > 0 && r.Done == 0) {
				err = fmt.Errorf("%w: %d of %d objects were not deleted", store.ErrUnavailable, r.Matches-r.Done, r.Matches)
			}
			return err
		})
		if err != nil || answer.Results.Matches <= answer.Results.Done {
			return err
		}
	}
}

// Refresh implements [engine.Engine]: what was written is seen, if the classes are there.
func (c *cluster) Refresh(ctx context.Context, indexes ...string) error {
	for _, index := range indexes[:1] {
		if err := c.exists(ctx, index); err != nil {
			return err
		}
	}
	return nil
}
