package epic_test

import (
	"fmt"

	"relay/epic"
)

func ExampleRead() {
	e, err := epic.Read("epic.yml", []byte(`
version: 2
id: 20260111-sign-up
title: People can sign up
tasks:
  T1: {title: The table, checks: [make test]}
  T2: {title: The form, checks: [make test], depends_on: [T1]}
  T3: {title: The help page, checks: [make docs]}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, i := range g.Order() {
		fmt.Println(g.ID(i), "waits for", len(g.Deps(i)))
	}
	// Output:
	// T1 waits for 0
	// T2 waits for 1
	// T3 waits for 0
}

// Every mistake is told at once, with its place and what to do about it.
func ExampleRead_mistakes() {
	_, err := epic.Read("epic.yml", []byte(`version: 2
id: 20260111-sign-up
title: People can sign up
tasks:
  T1: {title: The table, check: [make test]}
  T2: {title: The form, checks: [make test], depends_on: [T3]}
`))
	fmt.Println(err)
	// Output:
	// epic.yml:5:26: unknown key check in task T1 (did you mean checks?)
	// epic.yml:6:59: task T2 depends on T3, which does not exist (the tasks are T1, T2)
}
