// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"context"
	"maps"
	"sync"
)

// Meter adds up usage by stage. The zero value is ready; it is safe for
// concurrent use.
type Meter struct {
	mu      sync.Mutex
	stages  map[string]Usage
	unknown int
}

// Add counts usage under a stage.
func (m *Meter) Add(stage string, u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stages == nil {
		m.stages = map[string]Usage{}
	}
	m.stages[stage] = m.stages[stage].Add(u)
}

// Total is the sum over all stages.
func (m *Meter) Total() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	var sum Usage
	for _, u := range m.stages { // integers: the order does not matter
		sum = sum.Add(u)
	}
	return sum
}

// Stages returns a copy of the usage by stage.
func (m *Meter) Stages() map[string]Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.stages)
}

// Unknown is the number of attempts that may have been billed without a
// trace: timeouts and lost connections.
func (m *Meter) Unknown() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unknown
}

type (
	meterKey struct{}
	stageKey struct{}
)

// meters is the chain of meters of a context, innermost first.
type meters struct {
	m     *Meter
	outer *meters
}

// WithMeter makes m count every model and embedding call under the returned
// context, in addition to the meters already there. This is how one question
// is accounted for: replies carry their usage, embeddings cannot.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	outer, _ := ctx.Value(meterKey{}).(*meters)
	return context.WithValue(ctx, meterKey{}, &meters{m: m, outer: outer})
}

// WithStage names the stage of calls that carry no [Request], such as
// embeddings.
func WithStage(ctx context.Context, stage string) context.Context {
	return context.WithValue(ctx, stageKey{}, stage)
}

// StageOf returns the stage set by [WithStage], or "".
func StageOf(ctx context.Context) string {
	stage, _ := ctx.Value(stageKey{}).(string)
	return stage
}

// Record adds usage to the meters of ctx. Models that do not stand on a
// [Transport] call it once per call; decorators that pass a call on do not.
// An empty stage means the stage of ctx.
func Record(ctx context.Context, stage string, u Usage) {
	if stage == "" {
		stage = StageOf(ctx)
	}
	for at, _ := ctx.Value(meterKey{}).(*meters); at != nil; at = at.outer {
		at.m.Add(stage, u)
	}
}

func recordUnknown(ctx context.Context, more *Meter) {
	bump := func(m *Meter) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.unknown++
	}
	if more != nil {
		bump(more)
	}
	for at, _ := ctx.Value(meterKey{}).(*meters); at != nil; at = at.outer {
		bump(at.m)
	}
}
