package status

import (
	"bytes"
	"fmt"
	"testing"

	"relay/attempts"
	"relay/attempts/discussion"
)

const manyOpen = `
open questions:
  T0: Is it 0?
  T0: And then?
    relay answer T0 "TEXT" --epic x
  T1: Is it 1?
  T1: And then?
    relay answer T1 "TEXT" --epic x
  T2: Is it 2?
  T2: And then?
    relay answer T2 "TEXT" --epic x
  T3: Is it 3?
  T3: And then?
    relay answer T3 "TEXT" --epic x
  T4: Is it 4?
  T4: And then?
    relay answer T4 "TEXT" --epic x
  and 2 tasks more: relay report --epic x

open discussions:
  Topic 6: relay discuss replay day_6
  Topic 5: relay discuss replay day_5
  Topic 4: relay discuss replay day_4
  Topic 3: relay discuss replay day_3
  Topic 2: relay discuss replay day_2
  and 2 more: relay discuss open
`

// Open questions and discussions are few lines, and a task that waits for its answer is not among them.
func TestOpenIsBounded(t *testing.T) {
	t.Parallel()
	s := &Report{Tasks: []Task{{ID: "T9", Reason: attempts.AwaitsAnswer, Questions: []string{"Which?"}}}}
	for i := range 7 {
		s.Tasks = append(s.Tasks, Task{ID: fmt.Sprintf("T%d", i), Questions: []string{fmt.Sprintf("Is it %d?", i), "And then?"}})
		s.Discussions = append(s.Discussions, discussion.Thread{ID: fmt.Sprintf("day_%d", i), Topic: fmt.Sprintf("Topic %d", i)})
	}
	var out bytes.Buffer
	Printer{Width: 80, Flag: " --epic x"}.Print(&out, "", "open", s)
	if out.String() != manyOpen {
		t.Errorf("%s", out.String())
	}
}
