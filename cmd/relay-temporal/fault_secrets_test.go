package main

import (
	"bytes"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// A secret of a host is in nothing that leaves it: neither in the server's database, nor in arguments of a process, in an object of the
// repository that all reach, or in a log. Work that has it stays, and the run says which file and where. No text of the plan is on the
// server.
func TestFaultSecrets(t *testing.T) {
	t.Parallel()
	needsServer(t)
	const token, variable = "q8Zr2LkV0pXw7TnYc4Bd", "HOST_TOKEN"
	s := newSite(t, "none", "  env: ["+variable+"]\n  max_attempts_per_task: 1\n")
	s.must(write(s.path("project/agent.sh"), `echo "the token is $HOST_TOKEN"; echo done > $RELAY_TASK.txt; test $RELAY_TASK = T1 || echo "$HOST_TOKEN" > T2.txt`))
	s.run("git", "commit", "-q", "-a", "-m", "Print")
	stop, sampled := make(chan bool), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				sampled <- n
				return
			default:
			}
			lists, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, list := range lists {
				if text, _ := os.ReadFile(list); bytes.Contains(text, []byte(token)) {
					t.Errorf("arguments have the secret: %q", text)
				}
			}
		}
	}()
	s.start("server", variable+"="+token)
	s.start("build1", variable+"="+token)
	s.start("decider", variable+"="+token)
	if code := s.ended("decider"); code != 3 {
		t.Errorf("it ended with %d\n%s", code, s.logs())
	}
	close(stop)
	t.Logf("arguments of all processes were read %d times", <-sampled)
	if find := `the work stays on build1, as the commit [0-9a-f]+ in .*/build1/.*T2\.txt`; !regexp.MustCompile(find).MatchString(s.read("decider.log")) {
		t.Errorf("it does not say what stays where\n%s", s.logs())
	}
	kept := map[string]string{
		"the server": s.database(), "logs": s.logs(), "ledger and transcripts": s.files("project/.agents-os"),
		"the repository": s.run("git", "-C", s.path("remote.git"), "cat-file", "--batch-all-objects", "--batch") + s.files("remote.git"),
		"the project":    s.run("git", "cat-file", "--batch-all-objects", "--batch"),
	}
	for where, words := range map[string]string{"the server": "T2.1", "ledger and transcripts": "the token is [redacted", "the repository": "the token is [redacted"} {
		if !strings.Contains(kept[where], words) {
			t.Errorf("%s does not have %q: it was not read", where, words)
		}
	}
	for where, text := range kept {
		if strings.Contains(text, token) {
			t.Errorf("%s has the secret", where)
		}
	}
	if strings.Contains(kept["the server"], "peculiar") {
		t.Error("the server has text of the plan")
	}
}

// database returns all that is in the database of the server.
func (s *site) database() string {
	db, err := sql.Open("sqlite", s.path("temporal.db"))
	s.must(err)
	defer db.Close()
	var out strings.Builder
	for _, table := range s.column(db, "SELECT name FROM sqlite_master WHERE type = 'table'") {
		for _, name := range s.column(db, "SELECT name FROM pragma_table_info('"+table+"')") {
			for _, value := range s.column(db, "SELECT CAST(\""+name+"\" AS BLOB) FROM \""+table+"\"") {
				out.WriteString(value + "\n")
			}
		}
	}
	return out.String()
}

func (s *site) column(db *sql.DB, query string) (list []string) {
	rows, err := db.QueryContext(s.t.Context(), query)
	s.must(err)
	defer rows.Close()
	for rows.Next() {
		var value []byte
		s.must(rows.Scan(&value))
		list = append(list, string(value))
	}
	s.must(rows.Err())
	return list
}

// files returns the text of all files below a folder.
func (s *site) files(folder string) string {
	var out strings.Builder
	s.must(fs.WalkDir(os.DirFS(s.path(folder)), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			out.WriteString(name + "\n" + s.read(filepath.Join(folder, name)) + "\n")
		}
		return err
	}))
	return out.String()
}
