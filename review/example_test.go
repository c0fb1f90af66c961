package review_test

import (
	"fmt"

	"relay/review"
)

// One refusal is enough, whoever approves; a finding about a file that was not changed does not count.
func ExampleJudge() {
	answers := map[string]string{
		"ann": `{"verdict": "APPROVED", "summary": "Does what the task asks."}`,
		"bob": `{"verdict": "NEEDS CHANGES", "findings": [
			{"severity": "high", "file": "user.go", "line": 7, "issue": "the password is logged"},
			{"severity": "low", "file": "other.go", "issue": "a long line"}]}`,
	}
	var opinions []review.Opinion
	for _, name := range []string{"ann", "bob"} {
		verdict, err := review.Parse(answers[name])
		if err != nil {
			fmt.Println(err)
			return
		}
		opinions = append(opinions, review.Opinion{Reviewer: name, Verdict: verdict})
	}
	j := review.Judge(opinions, review.Scope{Files: []string{"user.go"}}, review.Standard)
	fmt.Println(j.Decision)
	fmt.Println(j.Counted[0].By, j.Counted[0].Severity, j.Counted[0].Issue)
	fmt.Println(len(j.Noted), "noted")
	// Output:
	// NEEDS CHANGES
	// [bob] high the password is logged
	// 1 noted
}
