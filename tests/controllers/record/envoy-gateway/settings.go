package main

import (
	"github.com/envoyproxy/gateway/internal/ir"
)

// Settings of the translated configuration, each by one value in which every generated policy differs.

func security(into object, s *ir.SecurityFeatures) {
	if s == nil {
		return
	}
	if s.JWT != nil {
		names := list{}
		for _, p := range s.JWT.Providers {
			names = append(names, p.Name)
		}
		into["jwt"] = names
	}
	if s.CORS != nil {
		origins := list{}
		for _, o := range s.CORS.AllowOrigins {
			origins = append(origins, exact(o))
		}
		into["cors"] = origins
	}
	if s.CSRF != nil {
		origins := list{}
		for _, o := range s.CSRF.AdditionalOrigins {
			origins = append(origins, exact(o))
		}
		into["csrf"] = origins
	}
	if s.BasicAuth != nil {
		into["basicAuth"] = deref(s.BasicAuth.ForwardUsernameHeader)
	}
	if s.APIKeyAuth != nil {
		headers := list{}
		for _, e := range s.APIKeyAuth.ExtractFrom {
			for _, h := range e.Headers {
				headers = append(headers, h)
			}
		}
		into["apiKeyAuth"] = headers
	}
	if s.OIDC != nil {
		into["oidc"] = s.OIDC.ClientID
	}
	if s.ExtAuth != nil && s.ExtAuth.HTTP != nil {
		into["extAuth"] = s.ExtAuth.HTTP.Path
	}
	authorization(into, s.Authorization)
}

func authorization(into object, a *ir.Authorization) {
	if a == nil {
		return
	}
	names := list{string(a.DefaultAction)}
	for _, r := range a.Rules {
		names = append(names, r.Name)
	}
	into["authorization"] = names
}

func traffic(into object, t *ir.TrafficFeatures) {
	if t == nil {
		return
	}
	if t.RateLimit != nil && t.RateLimit.Local != nil {
		limits := list{int(t.RateLimit.Local.Default.Requests)}
		for _, r := range t.RateLimit.Local.Rules {
			limits = append(limits, int(r.Limit.Requests))
		}
		into["rateLimit.local"] = limits
	}
	if t.RateLimit != nil && t.RateLimit.Global != nil {
		limits := list{}
		for _, r := range t.RateLimit.Global.Rules {
			limits = append(limits, int(r.Limit.Requests))
		}
		into["rateLimit.global"] = limits
	}
	if t.Retry != nil && t.Retry.NumRetries != nil {
		into["retry"] = int(*t.Retry.NumRetries)
	}
	circuitBreaker(into, t.CircuitBreaker)
	timeout(into, t.Timeout)
	keepalive(into, t.TCPKeepalive)
	loadBalancer(into, t.LoadBalancer)
}

func circuitBreaker(into object, c *ir.CircuitBreaker) {
	if c == nil {
		return
	}
	number(into, "circuitBreaker.maxConnections", c.MaxConnections)
	number(into, "circuitBreaker.maxPendingRequests", c.MaxPendingRequests)
}

func timeout(into object, t *ir.Timeout) {
	if t == nil {
		return
	}
	if t.HTTP != nil && t.HTTP.RequestTimeout != nil {
		into["timeout.http.requestTimeout"] = t.HTTP.RequestTimeout.Duration.String()
	}
	if t.TCP != nil && t.TCP.ConnectTimeout != nil {
		into["timeout.tcp.connectTimeout"] = t.TCP.ConnectTimeout.Duration.String()
	}
}

func keepalive(into object, k *ir.TCPKeepalive) {
	if k != nil {
		number(into, "tcpKeepalive.probes", k.Probes)
	}
}

func loadBalancer(into object, l *ir.LoadBalancer) {
	switch {
	case l == nil:
	case l.RoundRobin != nil:
		into["loadBalancer"] = "RoundRobin"
	case l.LeastRequest != nil:
		into["loadBalancer"] = "LeastRequest"
	case l.Random != nil:
		into["loadBalancer"] = "Random"
	case l.ConsistentHash != nil:
		into["loadBalancer"] = "ConsistentHash"
	}
}

func extensions(into object, e *ir.EnvoyExtensionFeatures) {
	if e == nil {
		return
	}
	if len(e.Luas) > 0 {
		codes := list{}
		for _, l := range e.Luas {
			codes = append(codes, deref(l.Code))
		}
		into["lua"] = codes
	}
	if len(e.ExtProcs) > 0 {
		timeouts := list{}
		for _, p := range e.ExtProcs {
			if p.MessageTimeout != nil {
				timeouts = append(timeouts, p.MessageTimeout.Duration.String())
			}
		}
		into["extProc"] = timeouts
	}
}

func clientHTTP(l *ir.HTTPListener) object {
	into := object{}
	clientTimeout(into, l.Timeout)
	connection(into, l.Connection)
	keepalive(into, l.TCPKeepalive)
	if l.ClientIPDetection != nil && l.ClientIPDetection.XForwardedFor != nil {
		number(into, "clientIPDetection.xForwardedFor.numTrustedHops", l.ClientIPDetection.XForwardedFor.NumTrustedHops)
	}
	if l.Headers != nil && l.Headers.EnableEnvoyHeaders {
		into["headers.enableEnvoyHeaders"] = true
	}
	return into
}

func clientTCP(l *ir.TCPListener) object {
	into := object{}
	clientTimeout(into, l.Timeout)
	connection(into, l.Connection)
	keepalive(into, l.TCPKeepalive)
	return into
}

func clientTimeout(into object, t *ir.ClientTimeout) {
	if t == nil {
		return
	}
	if t.HTTP != nil && t.HTTP.RequestReceivedTimeout != nil {
		into["timeout.http.requestReceivedTimeout"] = t.HTTP.RequestReceivedTimeout.Duration.String()
	}
	if t.TCP != nil && t.TCP.IdleTimeout != nil {
		into["timeout.tcp.idleTimeout"] = t.TCP.IdleTimeout.Duration.String()
	}
}

func connection(into object, c *ir.ClientConnection) {
	if c == nil {
		return
	}
	if c.ConnectionLimit != nil && c.ConnectionLimit.Value != nil {
		into["connection.connectionLimit"] = int(*c.ConnectionLimit.Value)
	}
}

func exact(match *ir.StringMatch) string {
	return deref(match.Exact)
}

func number(into object, name string, value *uint32) {
	if value != nil {
		into[name] = int(*value)
	}
}

func deref(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}
