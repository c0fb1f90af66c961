package attempts

import (
	"bytes"
	"encoding/json"

	"relay/attempts/internal/jsonscan"
	"relay/review"
)

// decoder reads events. A run of 10,000 tasks leaves some 35,000 of them, which status has to read in a moment.
type decoder struct {
	scan jsonscan.Scanner
	// reuse says that what an event points to is only looked at until the next is read.
	reuse bool
	spare struct {
		started Started
		ended   Ended
		usage   Usage
		written Written
	}
}

// decode reads the text of one line.
func (d *decoder) decode(text []byte, e *Event) error {
	*e = Event{}
	d.scan.Start(text)
	d.event(e)
	if d.scan.Done() {
		return nil
	}
	*e = Event{}
	return json.Unmarshal(text, e)
}

func (d *decoder) event(e *Event) {
	s := &d.scan
	s.Fields(func(name []byte) {
		switch string(name) {
		case "crc":
			s.Word()
		case "seq":
			e.Seq = s.Uint()
		case "synced":
			e.Synced = s.Uint()
		case "at":
			e.At = s.Time()
		case "run":
			e.Run = s.Word()
		case "type":
			e.Type = Type(s.Word())
		case "task":
			e.Task = s.Word()
		case "attempt":
			e.Attempt = int(s.Int())
		case "started":
			e.Started = d.started(e.Started)
		case "ended":
			e.Ended = d.ended(e.Ended, d.reuse)
		case "landing":
			e.Landing = d.ended(e.Landing, false) // not in the place of an end, which may stand beside it
		case "written":
			e.Written = d.written(e.Written)
		case "steps":
			e.Steps = d.steps(e.Steps)
		default: // rare, or not known
			s.GiveUp()
		}
	})
}

func (d *decoder) started(twice *Started) *Started {
	out, s := &d.spare.started, &d.scan
	if !d.reuse {
		out = &Started{}
	}
	if *out = (Started{}); twice != nil {
		s.GiveUp()
	}
	s.Fields(func(name []byte) {
		switch string(name) {
		case "runner":
			out.Runner = s.Word()
		case "model":
			out.Model = s.Word()
		case "base":
			out.Base = s.String()
		case "sealed":
			out.Sealed = s.String()
		case "cli":
			out.CLI = s.Word()
		case "cli_version":
			out.Version = s.Word()
		case "dir":
			out.Dir = s.String()
		case "session_id":
			out.Session = s.String()
		default:
			s.GiveUp()
		}
	})
	return out
}

func (d *decoder) written(twice *Written) *Written {
	out, s := &d.spare.written, &d.scan
	if !d.reuse {
		out = &Written{}
	}
	if *out = (Written{}); twice != nil {
		s.GiveUp()
	}
	s.Fields(func(name []byte) {
		switch string(name) {
		case "sha256":
			out.SHA256 = s.String()
		case "size":
			out.Size = s.Int()
		case "seq":
			out.Seq = s.Uint()
		default:
			s.GiveUp()
		}
	})
	return out
}

func (d *decoder) ended(twice *Ended, reuse bool) *Ended {
	out, s := &d.spare.ended, &d.scan
	if !reuse {
		out = &Ended{}
	}
	if *out = (Ended{}); twice != nil {
		s.GiveUp()
	}
	s.Fields(func(name []byte) {
		switch string(name) {
		case "result":
			out.Result = Result(s.Word())
		case "outcome":
			out.Outcome = Outcome(s.Word())
		case "charged":
			out.Charged = s.Bool()
		case "head":
			out.Head = s.String()
		case "landed":
			out.Landed = s.String()
		case "model":
			out.Model = s.Word()
		case "session_id":
			out.Session = s.String()
		case "usage":
			out.Usage = d.usage(out.Usage)
		case "receipt":
			d.receipt(&out.Receipt)
		case "changes":
			out.Changes = d.changes(out.Changes)
		case "tools":
			out.Tools = d.tools(out.Tools)
		case "cause":
			out.Cause = s.Word()
		case "evidence":
			if out.Evidence = s.Object(); !reuse {
				out.Evidence = bytes.Clone(out.Evidence)
			}
		default:
			s.GiveUp()
		}
	})
	return out
}

func (d *decoder) usage(twice *Usage) *Usage {
	out, s := &Usage{}, &d.scan // an attempt keeps it
	if twice != nil {
		s.GiveUp()
	}
	s.Fields(func(name []byte) {
		switch string(name) {
		case "input_tokens":
			out.InputTokens = s.Int()
		case "cached_tokens":
			out.CachedTokens = s.Int()
		case "output_tokens":
			out.OutputTokens = s.Int()
		case "cost_usd":
			out.CostUSD = s.Float()
		default:
			s.GiveUp()
		}
	})
	return out
}

func (d *decoder) receipt(out *Receipt) {
	s := &d.scan
	s.Fields(func(name []byte) {
		switch string(name) {
		case "summary":
			out.Summary = s.String()
		case "files_changed":
			out.FilesChanged = d.list(out.FilesChanged)
		case "error_category":
			out.ErrorCategory = Category(s.Word())
		case "error_summary":
			out.ErrorSummary = s.String()
		case "quality_gate_verdict":
			out.Verdict = review.Decision(s.Word())
		case "quality_gate_findings":
			out.Findings = s.String()
		case "suggestion":
			out.Suggestion = s.String()
		case "learning":
			out.Learning = s.String()
		case "pattern_tags":
			out.PatternTags = d.list(out.PatternTags)
		case "checks":
			d.checks(out)
		case "claimed":
			out.Claimed = s.Word()
		case "result_from":
			out.ResultFrom = ResultSource(s.Word())
		case "diff_stat":
			out.DiffStat = s.String()
		default:
			d.whereabouts(string(name), out)
		}
	})
}

// whereabouts reads what a receipt says of work that did not land.
func (d *decoder) whereabouts(name string, out *Receipt) {
	switch name {
	case "salvage":
		out.Salvage = d.scan.String()
	case "also_kept":
		out.Kept = d.list(out.Kept)
	case "contested":
		out.Contested = d.list(out.Contested)
	default:
		d.scan.GiveUp()
	}
}

func (d *decoder) list(twice []string) []string {
	if twice != nil {
		d.scan.GiveUp()
	}
	out := []string{}
	d.scan.Items(func() { out = append(out, d.scan.String()) })
	return out
}
