package api

import "strings"

// browserName returns the kind of browser that a User-Agent is of, in words of ours: what the header holds
// besides is not kept. It is empty for one that it does not know.
func browserName(agent string) string {
	find := func(names [][2]string) string {
		for _, n := range names {
			if strings.Contains(agent, n[0]) {
				return n[1]
			}
		}
		return ""
	}
	// Most browsers name those that they descend from as well: the most special comes first.
	name := find([][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chromium/", "Chromium"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	})
	system := find([][2]string{
		{"iPhone", "iOS"},
		{"iPad", "iPadOS"},
		{"Android", "Android"},
		{"CrOS", "ChromeOS"},
		{"Windows", "Windows"},
		{"Mac OS X", "macOS"},
		{"Linux", "Linux"},
	})
	switch {
	case name == "":
		return system
	case system == "":
		return name
	}
	return name + " on " + system
}
