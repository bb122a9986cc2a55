package ranking

// Walked returns how many entries were gone through to find where passages hold
// words.
func (r *Ranker) Walked() int { return r.walked }
