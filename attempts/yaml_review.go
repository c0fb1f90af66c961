package attempts

import (
	"strconv"

	"relay/attempts/internal/yamltext"
	"relay/review"
)

func (y ledgerWriter) reviewed(indent int, r *Reviewed) {
	if r == nil {
		return
	}
	y.Line(indent, "review:")
	indent += 2
	y.Line(indent, "rounds: ", strconv.Itoa(r.Rounds))
	if r.Split {
		y.Line(indent, "split: true")
	}
	y.opinions(indent, r.Opinions)
	y.missing(indent, r.Missing)
	y.Text(indent, "earlier", r.Earlier)
	y.Text(indent, "answer", r.Answer)
	y.raised(indent, "deferred", r.Deferred)
	y.raised(indent, "noted", r.Noted)
	if len(r.Proofs) > 0 {
		y.Line(indent, "proofs:")
	}
	for _, p := range r.Proofs {
		y.proof(indent+2, p)
	}
}

func (y ledgerWriter) opinions(indent int, opinions []Opinion) {
	if len(opinions) > 0 {
		y.Line(indent, "said:")
	}
	for _, s := range opinions {
		y.Line(indent+2, "- reviewer: ", yamltext.Scalar(s.Reviewer))
		y.Text(indent+4, "model", s.Model)
		y.Text(indent+4, "decision", string(s.Decision))
		y.Text(indent+4, "head", s.Head)
		y.Text(indent+4, "question", s.Question)
		y.verdict(indent+4, s.Verdict)
	}
}

func (y ledgerWriter) missing(indent int, list []Missing) {
	if len(list) > 0 {
		y.Line(indent, "missing:")
	}
	for _, m := range list {
		y.Line(indent+2, "- reviewer: ", yamltext.Scalar(m.Reviewer))
		y.Text(indent+4, "why", m.Why)
	}
}

func (y ledgerWriter) verdict(indent int, v review.Verdict) {
	y.Line(indent, "verdict:")
	indent += 2
	y.Line(indent, "verdict: ", yamltext.Scalar(string(v.Decision)))
	y.Text(indent, "summary", v.Summary)
	if len(v.Findings) > 0 {
		y.Line(indent, "findings:")
	}
	for _, f := range v.Findings {
		y.finding(indent+2, f)
	}
	if len(v.Criteria) > 0 {
		y.Line(indent, "criteria:")
	}
	for _, m := range v.Criteria {
		y.Line(indent+2, "- criterion: ", yamltext.Scalar(m.Criterion))
		y.Line(indent+4, "met: ", strconv.FormatBool(m.Met))
		y.Text(indent+4, "evidence", m.Evidence)
	}
}

func (y ledgerWriter) raised(indent int, name string, list []review.Raised) {
	if len(list) > 0 {
		y.Line(indent, name, ":")
	}
	for _, r := range list {
		y.finding(indent+2, r.Finding)
		y.List(indent+4, "by", r.By)
	}
}

func (y ledgerWriter) finding(indent int, f review.Finding) {
	y.Line(indent, "- severity: ", yamltext.Scalar(string(f.Severity)))
	y.Text(indent+2, "file", f.File)
	if f.Line != 0 {
		y.Line(indent+2, "line: ", strconv.Itoa(f.Line))
	}
	y.Text(indent+2, "issue", f.Issue)
	y.Text(indent+2, "fix", f.Fix)
	y.Text(indent+2, "criterion", f.Criterion)
}

func (y ledgerWriter) proof(indent int, p review.Proof) {
	y.Line(indent, "- criterion: ", yamltext.Scalar(p.Criterion))
	indent += 2
	y.Text(indent, "by", string(p.By))
	y.Line(indent, "met: ", strconv.FormatBool(p.Met))
	y.Text(indent, "check", p.Check)
	if p.ExitCode != 0 {
		y.Line(indent, "exit_code: ", strconv.Itoa(p.ExitCode))
	}
	y.Text(indent, "log", p.Log)
	y.Text(indent, "log_sha256", p.LogSHA256)
	y.Text(indent, "commit", p.Commit)
	y.List(indent, "reviewers", p.Reviewers)
	y.Text(indent, "evidence", p.Evidence)
}

// check writes how a check ended, without its name.
func (y ledgerWriter) check(indent int, c CheckRun) {
	y.Line(indent, "exit_code: ", strconv.Itoa(c.ExitCode))
	y.Number(indent, "seconds", c.Seconds)
	y.Text(indent, "log", c.Log)
	y.Text(indent, "log_sha256", c.SHA256)
	y.Text(indent, "tail", c.Tail)
	y.Text(indent, "phase", c.Phase)
	if c.FailedTests > 0 {
		y.Line(indent, "failed_tests: ", strconv.Itoa(c.FailedTests))
	}
	if c.RanTests > 0 {
		y.Line(indent, "ran_tests: ", strconv.Itoa(c.RanTests))
	}
	y.Text(indent, "attribution", string(c.Attribution))
}
