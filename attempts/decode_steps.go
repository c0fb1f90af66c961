package attempts

// steps reads those of one event. What is rare of a step is left to the general decoder.
func (d *decoder) steps(twice []Step) []Step {
	s := &d.scan
	if twice != nil {
		s.GiveUp()
	}
	out := []Step{}
	s.Items(func() { out = append(out, d.step()) })
	return out
}

func (d *decoder) step() (out Step) {
	s := &d.scan
	s.Fields(func(name []byte) {
		switch string(name) {
		case "n":
			out.Number = s.Uint()
		case "kind":
			out.Kind = StepKind(s.Word())
		case "ran":
			out.Ran = s.Int()
		case "drift":
			out.Drift = s.Int()
		case "task":
			out.Task = s.Word()
		case "attempt":
			out.Attempt = int(s.Int())
		case "runner":
			out.Runner = s.Word()
		case "drawn":
			out.Drawn = d.numbers(out.Drawn)
		case "free":
			out.Free = d.numbers(out.Free)
		case "tasks":
			out.Tasks = d.list(out.Tasks)
		case "together":
			out.Together = int(s.Int())
		case "checked":
			out.Checked = s.Int()
		case "charged":
			out.Charged = s.Bool()
		default:
			s.GiveUp()
		}
	})
	return out
}

func (d *decoder) numbers(twice []int64) []int64 {
	if twice != nil {
		d.scan.GiveUp()
	}
	out := []int64{}
	d.scan.Items(func() { out = append(out, d.scan.Int()) })
	return out
}
