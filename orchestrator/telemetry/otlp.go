package telemetry

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// object is a message of OTLP in its JSON form: integers of 64 bits are text, ids are hex.
type object = map[string]any

// facts returns attributes, each of which is a string, an int, a float64 or a bool.
func facts(about object) (list []object) {
	for _, key := range slices.Sorted(maps.Keys(about)) {
		value := object{"stringValue": about[key]}
		switch v := about[key].(type) {
		case int:
			value = object{"intValue": strconv.Itoa(v)}
		case float64:
			value = object{"doubleValue": v}
		case bool:
			value = object{"boolValue": v}
		}
		list = append(list, object{"key": key, "value": value})
	}
	return list
}

// with joins attributes; the later ones win.
func with(parts ...object) object {
	all := object{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// sums count since the run began, for each metric and set of attributes.
type sums map[string]*series

// series is one metric with one set of attributes: a sum, or a histogram if it has bounds.
type series struct {
	name, unit string
	bounds     []float64
	about      object
	buckets    []int
	count      int
	sum        float64
}

// tokenBounds are those of the GenAI conventions; secondBounds reach from a short attempt to a night.
var (
	tokenBounds  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	secondBounds = []float64{10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800}
)

func (s sums) add(kind series, value float64, about object) {
	key := fmt.Sprint(kind.name, about)
	one := s[key]
	if one == nil {
		kind.about, kind.buckets = about, make([]int, len(kind.bounds)+1)
		one = &kind
		s[key] = one
	}
	place, _ := slices.BinarySearch(one.bounds, value)
	one.buckets[place]++
	one.count++
	one.sum += value
}

// metrics returns all that was counted since the run began, and how many tasks are in each state.
func (t *tracker) metrics(now time.Time) (list []object) {
	if t.began.IsZero() {
		return nil
	}
	point := func(about object) object {
		return object{"attributes": facts(about), "startTimeUnixNano": nanos(t.began), "timeUnixNano": nanos(now)}
	}
	for _, key := range slices.Sorted(maps.Keys(t.sums)) {
		one, at := t.sums[key], point(t.sums[key].about)
		kind, data := "sum", object{"dataPoints": []object{at}, "aggregationTemporality": 2} // cumulative
		if one.bounds == nil {
			data["isMonotonic"], at["asDouble"] = true, one.sum
		} else {
			kind = "histogram"
			at["count"], at["sum"], at["explicitBounds"], at["bucketCounts"] = one.count, one.sum, one.bounds, one.buckets
		}
		list = append(list, object{"name": one.name, "unit": one.unit, kind: data})
	}
	tasks, c := []object{}, t.counts
	for i, state := range []string{"completed", "in_progress", "pending", "blocked", "gated"} {
		at := point(object{"relay.task.status": state})
		at["asDouble"] = []int{c.Completed, c.InProgress, c.Pending, c.Blocked, c.Gated}[i]
		tasks = append(tasks, at)
	}
	return append(list, object{"name": "relay.tasks", "unit": "{task}", "gauge": object{"dataPoints": tasks}})
}
