package core

// Project is a Keystone project, for its name.
type Project struct {
	ID   string
	Name string
}

// Key implements Object.
func (p *Project) Key() string { return p.ID }
