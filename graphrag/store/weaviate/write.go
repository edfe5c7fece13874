// SPDX-License-Identifier: Apache-2.0

package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

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
	b := batch{index: index}
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
			b.near = append(b.near, d.ID)
		}
		data, err := json.Marshal(one)
		if err != nil {
			return err
		}
		b.objects, b.ids = append(b.objects, data), append(b.ids, d.ID)
		if b.bytes += len(data); len(b.ids) == maxItems || b.bytes >= maxBytes || i == len(docs)-1 {
			if err := c.send(ctx, b); err != nil {
				return err
			}
			b = batch{index: index}
		}
	}
	return nil
}

func (c *cluster) exists(ctx context.Context, index string) error {
	return c.rest(ctx, http.MethodGet, "/schema/"+c.class(index), nil, nil)
}

// known asks about a class that a node does not know: it is gone, or it is so new, or the node
// so newly started, that it will.
func (c *cluster) known(ctx context.Context, index string, err error) error {
	if !errors.Is(err, errNoType) && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err := c.exists(ctx, index); err != nil {
		return err
	}
	return fmt.Errorf("%w: a node does not know the class yet: %v", store.ErrUnavailable, err)
}

// restart is less than a killed server needs to be back.
var restart = 2 * time.Second

// send writes objects to all replicas; again, all of them, while it may help. Nodes ask each other
// again for a while: a request that took long may have found one that was killed since the last.
func (c *cluster) send(ctx context.Context, b batch) error {
	body, err := json.Marshal(object{"objects": b.objects})
	if err != nil {
		return err
	}
	return c.client.Again(ctx, false, func() error {
		took, err := c.put(ctx, b, body)
		if err == nil && took > restart {
			c.doubts.set(b, true)
			_, err = c.put(ctx, b, body)
		}
		c.doubts.set(b, err != nil)
		return c.known(ctx, b.index, err)
	})
}

// put writes objects and tells how long it took to settle.
func (c *cluster) put(ctx context.Context, b batch, body []byte) (took time.Duration, err error) {
	if ids := c.doubts.among(b); len(ids) > 0 {
		_, err = c.delete(ctx, b.index, byIDs(ids))
	}
	if err == nil {
		err = c.post(ctx, body, len(b.ids))
	}
	start := time.Now()
	if err == nil && len(b.near) > 0 {
		err = c.settle(ctx, b)
	}
	return time.Since(start), err
}

func (c *cluster) post(ctx context.Context, body []byte, items int) error {
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
	if len(answer) != items {
		return fmt.Errorf("%w: an answer of %d items to a batch of %d", store.ErrUnavailable, len(answer), items)
	}
	for _, item := range answer {
		if e := item.Result.Errors; e != nil && len(e.Error) > 0 {
			return e.Error[0].error(store.ErrUnavailable)
		}
	}
	return nil
}

// settle has all replicas write the graph of vectors to disk, for what would be deleted
// (nothing is). They answer a batch when its vectors are in the graph, but wrote its log
// before: the last thirty or so would be in memory alone, and be lost to searches by vectors
// with the process.
func (c *cluster) settle(ctx context.Context, b batch) error {
	r, err := c.matching(ctx, b.index, byIDs(b.near), true)
	if err == nil && (r.Failed > 0 || r.Matches < len(b.near)) {
		err = fmt.Errorf("%w: %d of %d objects are not at all replicas", store.ErrUnavailable, len(b.near)-r.Matches+r.Failed, len(b.near))
	}
	return err
}

// Delete implements [engine.Engine].
func (c *cluster) Delete(ctx context.Context, index string, ids []string) error {
	for part := range slices.Chunk(ids, maxItems) {
		if err := c.deleteWhere(ctx, index, byIDs(part)); err != nil {
			return err
		}
	}
	return nil
}

func byIDs(ids []string) object {
	return object{"path": []string{"id"}, "operator": "ContainsAny", "valueTextArray": uuids(ids)}
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
		var r matched
		err := c.client.Again(ctx, false, func() (err error) {
			r, err = c.delete(ctx, index, where)
			return c.known(ctx, index, err)
		})
		if err != nil || r.Matches <= r.Done {
			return err
		}
	}
}

// delete deletes as many at once as the server lets.
func (c *cluster) delete(ctx context.Context, index string, where object) (matched, error) {
	r, err := c.matching(ctx, index, where, false)
	if err == nil && (r.Failed > 0 || r.Matches > 0 && r.Done == 0) {
		err = fmt.Errorf("%w: %d of %d objects were not deleted", store.ErrUnavailable, r.Matches-r.Done, r.Matches)
	}
	return r, err
}

// matched is how many objects there are, and were deleted.
type matched struct {
	Matches int `json:"matches"`
	Failed  int `json:"failed"`
	Done    int `json:"successful"`
}

// matching deletes objects at all replicas, or only asks for it.
func (c *cluster) matching(ctx context.Context, index string, where object, ask bool) (matched, error) {
	var answer struct {
		Results matched `json:"results"`
	}
	err := c.client.Once(ctx, engine.Request{Method: http.MethodDelete, Path: "/v1/batch/objects?consistency_level=ALL",
		Body: object{"match": object{"class": c.class(index), "where": where}, "output": "minimal", "dryRun": ask}}, &answer)
	return answer.Results, err
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
