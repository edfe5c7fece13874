// SPDX-License-Identifier: Apache-2.0

package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// version is one of a register: the description of a class that has no objects. The
// largest counts; those before it are removed by whoever made it. One without a value
// stays, so that nobody who is late makes what was before anew.
type version struct {
	Register string `json:"register"`
	N        int    `json:"n"`
	Value    string `json:"value"`
	class    string
}

// versions are those of all registers, by their names.
func (c *cluster) versions(ctx context.Context) (map[string][]version, error) {
	var answer struct {
		Classes []struct {
			Class       string `json:"class"`
			Description string `json:"description"`
		} `json:"classes"`
	}
	if err := c.rest(ctx, http.MethodGet, "/schema", nil, &answer); err != nil {
		return nil, err
	}
	all := make(map[string][]version)
	for _, class := range answer.Classes {
		v := version{class: class.Class}
		if json.Unmarshal([]byte(class.Description), &v) == nil && c.versionClass(v.Register, v.N) == class.Class {
			all[v.Register] = append(all[v.Register], v)
		}
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b version) int { return a.N - b.N })
	}
	return all, nil
}

func (c *cluster) versionClass(register string, n int) string {
	return fmt.Sprintf("%s_V_%s_%d", c.prefix(), plain(register), n)
}

// Load implements [engine.Engine].
func (c *cluster) Load(ctx context.Context, register string) ([]byte, string, error) {
	all, err := c.versions(ctx)
	list := all[register]
	if err != nil || len(list) == 0 {
		return nil, "", err
	}
	last := list[len(list)-1]
	if last.Value == "" {
		return nil, strconv.Itoa(last.N), nil
	}
	return []byte(last.Value), strconv.Itoa(last.N), nil
}

// Save implements [engine.Engine].
func (c *cluster) Save(ctx context.Context, register string, value []byte, was string) error {
	n, _ := strconv.Atoi(was) // 0 for ""
	v := version{Register: register, N: n + 1, Value: string(value)}
	description, err := json.Marshal(v)
	if err != nil {
		return err
	}
	mine := c.versionClass(register, v.N)
	// A class for tenants takes no room while there are none.
	err = c.make(ctx, mine, true, object{"description": string(description), "multiTenancyConfig": object{"enabled": true}, "replicationConfig": object{"factor": 1 + c.o.Replicas}})
	if errors.Is(err, errExists) {
		return fmt.Errorf("%w: %s was changed meanwhile", store.ErrConflict, register)
	}
	if err != nil {
		return err
	}
	all, err := c.versions(ctx)
	if err != nil {
		return err
	}
	for _, other := range all[register] {
		if other.N > v.N { // it was made and removed by another before
			return errors.Join(fmt.Errorf("%w: %s was changed meanwhile", store.ErrConflict, register), c.remove(ctx, mine))
		}
	}
	for _, other := range all[register] {
		if other.N < v.N {
			_ = c.remove(ctx, other.class) // it counts no more, and the next removes it
		}
	}
	return nil
}

func (c *cluster) remove(ctx context.Context, class string) error {
	return c.rest(ctx, http.MethodDelete, "/schema/"+class, nil, nil)
}

// Registers implements [engine.Engine].
func (c *cluster) Registers(ctx context.Context) ([]string, error) {
	all, err := c.versions(ctx)
	return slices.Sorted(maps.Keys(all)), err
}
