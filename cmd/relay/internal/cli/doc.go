// Package cli is what all commands share: streams, environment, questions, help and completions, the guardian, and programs of hosts.
//
// app.go is what every command needs: its streams, environment and clock, the project around the user, and questions to the user.
//
// awake.go keeps the machine from sleeping while relay works.
//
// cmdline.go reports mistakes on the command line in relay's words, and gives the help and completion commands of cobra relay's form.
//
// completion.go answers a shell that completes a command line: ids of tasks and epics, and names of agents, by what the help calls an
// argument or a flag's value. It prints no errors: where there is nothing to offer, nothing is offered.
//
// guardian.go starts the guardian of a run, hides relay's own process from agents and checks, and refuses commands that are for people to
// what a run has started.
//
// hostprogram.go runs the command line program of a host for repositories, such as gh.
package cli
