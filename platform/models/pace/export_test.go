package pace

// Lanes returns how many lanes are kept.
func (p *Pacer) Lanes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lanes)
}
