// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"github.com/wildgraph/wildgraph/graphrag/index"
)

// contents are the files of a folder, one after the other.
func contents(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(filepath.Base(name) + "\n" + string(data))
	}
	return b.String()
}

func TestOptions(t *testing.T) {
	_, err := Options{Slots: -1, Limits: map[string]index.Limit{"fax": {}}}.resolve()
	for _, want := range []string{"Slots", `"fax"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

// slow takes its time.
type slow time.Duration

func (s slow) Do(ctx context.Context, _ index.Task) (index.Done, error) {
	select {
	case <-time.After(time.Duration(s)):
	case <-ctx.Done():
	}
	return index.Done{}, ctx.Err()
}

// A task that waits for a model says that it is alive. (The SDK passes on as many beats as
// the server needs.)
func TestHeartbeats(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	beats := 0
	env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { beats++ })
	env.RegisterActivityWithOptions(tasks{slow(200 * time.Millisecond), 100 * time.Millisecond}.do, activity.RegisterOptions{Name: activityName})
	if _, err := env.ExecuteActivity(activityName, index.Task{}); err != nil || beats == 0 {
		t.Errorf("%d beats, %v", beats, err)
	}
}
