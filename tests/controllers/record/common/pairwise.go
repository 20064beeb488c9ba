package main

// A factor has a name and the values that it takes.
type factor struct {
	name   string
	values []string
}

// A plan gives every factor a value.
type plan map[string]string

type pair struct{ nameA, a, nameB, b string }

// Plans in which every two values of different factors meet at least once, and `more` others. The same factors
// give the same plans.
func pairwise(factors []factor, more int) []plan {
	missing := map[pair]bool{}
	for i, a := range factors {
		for _, b := range factors[i+1:] {
			for _, x := range a.values {
				for _, y := range b.values {
					missing[pair{a.name, x, b.name, y}] = true
				}
			}
		}
	}
	random := uint64(29)
	next := func(n int) int {
		random = random*6364136223846793005 + 1442695040888963407
		return int((random >> 33) % uint64(n))
	}
	drawn := func() plan {
		drawn := plan{}
		for _, f := range factors {
			drawn[f.name] = f.values[next(len(f.values))]
		}
		return drawn
	}
	covers := func(p plan) (found []pair) {
		for i, a := range factors {
			for _, b := range factors[i+1:] {
				at := pair{a.name, p[a.name], b.name, p[b.name]}
				if missing[at] {
					found = append(found, at)
				}
			}
		}
		return found
	}
	var plans []plan
	for len(missing) > 0 {
		var best plan
		var most []pair
		for range 200 {
			candidate := drawn()
			if found := covers(candidate); len(found) > len(most) {
				best, most = candidate, found
			}
		}
		for _, at := range most {
			delete(missing, at)
		}
		if best != nil {
			plans = append(plans, best)
		}
	}
	for range more {
		plans = append(plans, drawn())
	}
	return plans
}
