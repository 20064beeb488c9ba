package main

import (
	"fmt"
	"strings"
)

// What is in force where connections are handed on without a look at HTTP: the chain of a listener has the rule of the one
// route that is served there.
func (p proxy) onChain(said *verdicts, all []served, listener, chain object) error {
	name, _ := chain["name"].(string)
	ports := texts(listener, "address.socketAddress.portValue")
	hosts := strs(texts(chain, "filterChainMatch.serverNames"))
	found := false
	for _, s := range all {
		if len(ports) != 1 || ports[0] != float64(s.port) || (len(hosts) > 0 && !covers(s.hostname, hosts[0])) {
			continue
		}
		for _, r := range p.rulesOn(s) {
			if !strings.HasSuffix(name, r.chain) {
				continue
			}
			found = true
			if err := said.in(s.name, p.client(listener, object{})); err != nil {
				return err
			}
			// A policy would have to add a filter, and there is none.
			if err := said.in(s.name+" "+r.place, object{}); err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("no rule has filter chain %s", name)
	}
	return nil
}

// Whether a listener with a hostname serves a server name: since 2.4 the chain of a TLSRoute has the hostnames of the route.
func covers(listener, name string) bool {
	return listener == "" || listener == "*" || listener == name ||
		(strings.HasPrefix(listener, "*.") && strings.HasSuffix(name, listener[1:]))
}
