package attempts

func (d *decoder) checks(r *Receipt) {
	s := &d.scan
	if r.Checks != nil {
		s.GiveUp()
	}
	r.Checks = []CheckRun{}
	s.Items(func() {
		var c CheckRun
		s.Fields(func(name []byte) {
			switch string(name) {
			case "name":
				c.Name = s.Word()
			case "exit_code":
				c.ExitCode = int(s.Int())
			case "seconds":
				c.Seconds = s.Float()
			case "log":
				c.Log = s.String()
			case "log_sha256":
				c.SHA256 = s.Word()
			case "tail":
				c.Tail = s.String()
			case "phase":
				c.Phase = s.Word()
			case "failed_tests":
				c.FailedTests = int(s.Int())
			case "ran_tests":
				c.RanTests = int(s.Int())
			case "attribution":
				c.Attribution = Attribution(s.Word())
			default:
				s.GiveUp()
			}
		})
		r.Checks = append(r.Checks, c)
	})
}

func (d *decoder) changes(twice []FileChange) []FileChange {
	s := &d.scan
	if twice != nil {
		s.GiveUp()
	}
	out := []FileChange{}
	s.Items(func() {
		var c FileChange
		s.Fields(func(name []byte) {
			switch string(name) {
			case "path":
				c.Path = s.String()
			case "kind":
				c.Kind = ChangeKind(s.Word())
			case "from":
				c.From = s.String()
			case "added":
				c.Added = int(s.Int())
			case "deleted":
				c.Deleted = int(s.Int())
			default:
				s.GiveUp()
			}
		})
		out = append(out, c)
	})
	return out
}

func (d *decoder) tools(twice []ToolUse) []ToolUse {
	s := &d.scan
	if twice != nil {
		s.GiveUp()
	}
	out := []ToolUse{}
	s.Items(func() {
		var t ToolUse
		s.Fields(func(name []byte) {
			switch string(name) {
			case "name":
				t.Name = s.Word()
			case "calls":
				t.Calls = int(s.Int())
			case "failed":
				t.Failed = int(s.Int())
			default:
				s.GiveUp()
			}
		})
		out = append(out, t)
	})
	return out
}
